/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/way.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "base/quote.h"
#include "git/gitunit.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/content.h"
#include "tree/standin.h"
#include "txn/made.h"
#include "txn/movable.h"
#include "txn/peek.h"
#include "txn/preflight.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * How one object gets into the base
 * ---------------------------------
 *
 * An object is moved out of the upper, unless that would change the meaning of
 * the rest of the upper.  Nor is it moved if something of the object would be
 * lost on its way back.  Then a copy is staged.  That is so
 *	- on another file system, in a shared layer or one of several,
 *	- below an opaque directory that stays, which would hide what arrived,
 *	- for an inode of which some name stays,
 *	- for what movable.c names.
 * The original of a copy leaves the upper as well, where that is allowed.
 *
 * A base that is an overlay itself lets no program move a directory of its
 * lower layer.  No program can tell which those are.  There every directory
 * that goes is remade on the way back.
 */

int way_fail(const char *path, int r, const char *what, struct hb_error *err)
{
	return hb_fail_at(err, r, path, "%s", what);
}

int way_choose(struct way *w, const struct change *c, struct hb_error *err)
{
	const struct movable_request m = { .site = w->site,
					   .syncer = w->syncer,
					   .change = c,
					   .contents = &w->contents };

	w->contents = 0;
	if (made_is(c) || c->new.is_stand_in ||
	    !survey_has_all_links(w->survey, c))
		return WAY_COPY;
	return movable_check(&m, err);
}

bool way_is_remade(const struct way *w, const struct change *c)
{
	return w->site->is_overlay && c->old.type == ENTRY_DIR;
}

void way_move(const struct way *w, const struct change *c, struct op *op)
{
	op->source = SOURCE_LAYER;
	op->new = object_of(&c->new);
	op->new.entries = w->contents;
	if (c->new.is_opaque)
		op->effect |= OP_OPAQUE;
	if (c->new.has_origin)
		op->effect |= OP_ORIGIN;
}

static int fail_real(const char *path, const char *real, int r,
		     struct hb_error *err)
{
	char shown[2][QUOTE_SHOWN];

	quote_shown(path, shown[0], sizeof(shown[0]));
	quote_shown(real, shown[1], sizeof(shown[1]));
	hb_fix(err, "commit --except '%s' --except '%s', or make it readable",
	       shown[0], shown[1]);
	return hb_fail(err, r,
		       "cannot move %s to %s: the real file may not be read",
		       shown[1], shown[0]);
}

/*
 * The real file gets another name in the place of a copy: it is never read, and
 * all that follows moves names.
 */
static int stage_real(struct way *w, const struct standin *in, struct op *op,
		      struct hb_error *err)
{
	const char *slash = strrchr(in->real, '/');
	const char *name = slash ? slash + 1 : in->real;
	auto_fd int dir = access_open_below(
		w->site->resource->base, in->real,
		slash ? (size_t)(slash - in->real) : 0, O_PATH, NULL);
	struct place to = { .dir = -1 };
	struct sys_attr a;
	int r;

	r = dir < 0 ? dir : sys_attr_at(dir, name, &a);
	if (r == 0 && !S_ISREG(a.mode))
		r = -HB_E_CONFLICT;
	if (r < 0)
		return fail_real(op->path, in->real, r, err);
	op->mode = a.mode & 07777;
	op->uid = a.uid;
	op->gid = a.gid;
	r = site_source(w->site, op, &to, err);
	if (r < 0)
		return r;
	r = sys_linkat(dir, name, to.dir, to.name);
	if (r < 0)
		return fail_real(op->path, in->real, r, err);
	return place_read(&to, &op->new, err);
}

/* 1: it is the real file's, and staged; 0: it is to be copied. */
static int stage_stand_in(struct way *w, const struct change *c, struct op *op,
			  struct hb_error *err)
{
	const struct content_place source = {
		.root = w->site->resource->layers[c->layer],
		.in_layer = true,
		.path = op->path,
	};
	struct content_dir from = { .fd = -1 };
	struct standin in = { 0 };
	const char *name;
	int left, r;

	if (!c->new.is_stand_in)
		return 0;
	r = content_enter(&source, &from, &name, err);
	if (r == 0) {
		r = standin_read(from.fd, name, &c->new, &in);
		if (r < 0)
			(void)hb_fail(err, r, "cannot read a mark");
	}
	left = content_leave(&from, r < 0 ? NULL : err);
	if (r < 0 || left < 0)
		return r < 0 ? r : left;
	if (in.is_touched)
		return 0;
	r = stage_real(w, &in, op, err);
	return r < 0 ? r : 1;
}

int way_copy(struct way *w, const struct change *c, struct op *op,
	     struct hb_error *err)
{
	const struct content_place source = {
		.root = w->site->resource->layers[c->layer],
		.in_layer = true,
		.path = op->path,
		.entry = &c->new,
	};
	struct content_dir from = { .fd = -1 };
	struct place to = { .dir = -1 };
	struct carry carry = {
		.entry = &c->new,
		.flags = CARRY_FROM_LAYER | CARRY_TO_BASE | CARRY_CAPABILITIES,
		.mode = op->mode,
		.uid = op->uid,
		.gid = op->gid,
	};
	int left, r;

	if (made_is(c))
		return made_stage(w, c, op, err);
	op->source = SOURCE_STAGED;
	r = stage_stand_in(w, c, op, err);
	if (r != 0)
		return r < 0 ? r : 0;
	r = preflight_space(w->site,
			    c->new.type == ENTRY_FILE ? c->new.stored : 0, err);
	if (r < 0)
		return way_fail(op->path, r, "cannot copy", err);
	r = content_enter(&source, &from, &carry.name, err);
	carry.from = from.fd;
	if (r == 0)
		r = site_source(w->site, op, &to, err);
	if (r == 0)
		r = c->link_group != 0
			    ? linked_copy(&w->linked, &carry, c->link_group,
					  to.dir, to.name, err)
			    : carry_copy(&carry, to.dir, to.name, err);
	left = content_leave(&from, r < 0 ? NULL : err);
	if (r == 0)
		r = left < 0 ? left : place_read(&to, &op->new, err);
	if (r < 0)
		return r;
	if (entry_opens(op->new.type))
		syncer_add(w->syncer, to.dir, to.name,
			   op->new.type == ENTRY_FILE);
	return 0;
}

int way_remake(struct way *w, const struct change *c, uint64_t slot,
	       struct object *ret, struct hb_error *err)
{
	const struct op op = { .kind = OP_REMOVE,
			       .source = SOURCE_STAGED,
			       .slot = slot,
			       .path = c->path };
	struct place from = { .dir = -1 }, to = { .dir = -1 };
	struct carry carry = {
		.entry = &c->old,
		.mode = c->old.mode | USER_ALL,
		.uid = c->old.uid,
		.gid = c->old.gid,
	};
	int r;

	r = site_base(w->site, &op, &from, err);
	if (r < 0)
		return r;
	if (from.dir < 0)
		return way_fail(c->path, -HB_E_CONFLICT,
				"the directory has vanished of", err);
	r = site_source(w->site, &op, &to, err);
	if (r < 0)
		return r;
	carry.from = from.dir;
	carry.name = from.name;
	r = carry_copy(&carry, to.dir, to.name, err);
	if (r == 0)
		r = place_read(&to, ret, err);
	if (r == 0)
		syncer_add(w->syncer, to.dir, to.name, false);
	return r;
}

int way_clear_upper(struct way *w, struct op *op, struct hb_error *err)
{
	int r = peek_object(w->site, op, &op->layer, err);

	if (r == 0 && op->layer.type != ENTRY_NONE)
		op->effect |= OP_LAYER_MOVES;
	return r;
}

int way_name_index(struct way *w, struct op *op, struct hb_error *err)
{
	struct place at;
	int r;

	if (op->new.type != ENTRY_FILE ||
	    !git_is_index_path(git_root(w->site->resource->is_git), op->path))
		return 0;
	r = site_source(w->site, op, &at, err);
	if (r == 0 && at.dir >= 0)
		op->new.entries = git_index_name(at.dir, at.name);
	return r;
}
