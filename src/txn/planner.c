/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/planner.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "changes/walk.h"
#include "git/gitunit.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/content.h"
#include "tree/standin.h"
#include "txn/preflight.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEVELS_MAX ((size_t)1 << 20)
#define USER_ALL   0700

int planner_fail(const char *path, int r, const char *what,
		 struct hb_error *err)
{
	char shown[QUOTE_SHOWN];

	return hb_fail(err, r, "%s %s", what,
		       quote_shown(*path ? path : ".", shown, sizeof(shown)));
}

int planner_push(struct planner *p, const struct level *level,
		 struct hb_error *err)
{
	if (p->depth == p->room) {
		size_t room = p->room ? 2 * p->room : 32;
		struct level *larger;

		larger = room > LEVELS_MAX ? NULL
					   : reallocarray(p->levels, room,
							  sizeof(*larger));
		if (!larger)
			return hb_fail(err, -ENOMEM, "the tree is too deep");
		p->levels = larger;
		p->room = room;
	}
	p->levels[p->depth++] = *level;
	return 0;
}

bool planner_is_below(const char *path, const char *dir, size_t len)
{
	return len == 0 || (strncmp(path, dir, len) == 0 && path[len] == '/');
}

/* All that was in the directory has its operation: now it has. */
static int end_removed(struct planner *p, const struct level *level,
		       struct hb_error *err)
{
	auto_free char *path = strndup(buf_str(&p->path), level->len);
	struct change c = level->change;
	bool is_shared = c.new.type != ENTRY_NONE;
	struct op op = { .kind = OP_REMOVE,
			 .source = SOURCE_STAGED,
			 .flags = site_rises(p->site, 1) |
				  (is_shared ? OP_SHARES : 0),
			 .resource = p->q->resource,
			 .slot = level->slot,
			 .path = path,
			 .old = object_of(&c.old),
			 .new = level->staged,
			 .mode = level->staged.mode,
			 .uid = c.old.uid,
			 .gid = c.old.gid,
			 .accepted = (enum conflict)c.conflict };
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	c.path = path;
	r = is_shared ? 0 : planner_set_layer(p, &op, err);
	if (r == 0)
		r = planner_write_op(p, &op, err);
	return r < 0 || !is_shared ? r : p->plan_successor(p, &c, err);
}

int planner_leave(struct planner *p, const char *path, struct hb_error *err)
{
	while (p->depth > 0 &&
	       (!path || !planner_is_below(path, buf_str(&p->path),
					   p->levels[p->depth - 1].len))) {
		struct level level = p->levels[--p->depth];
		int r = level.is_removed ? end_removed(p, &level, err) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

/* An empty copy, which its owner may fill again. */
static int stage_removed(struct planner *p, const struct change *c,
			 struct level *level, struct hb_error *err)
{
	const struct op op = { .kind = OP_REMOVE,
			       .source = SOURCE_STAGED,
			       .slot = level->slot,
			       .path = c->path };
	struct place from = { .dir = -1 }, to = { .dir = -1 };
	struct carry carry = {
		.entry = &c->old,
		.mode = c->old.mode | USER_ALL,
		.uid = c->old.uid,
		.gid = c->old.gid,
	};
	int r;

	r = site_base(p->site, &op, &from, err);
	if (r < 0)
		return r;
	if (from.dir < 0)
		return planner_fail(c->path, -HB_E_CONFLICT,
				    "the directory has vanished of", err);
	r = site_source(p->site, &op, &to, err);
	if (r < 0)
		return r;
	carry.from = from.dir;
	carry.name = from.name;
	r = carry_copy(&carry, to.dir, to.name, err);
	if (r == 0)
		r = place_read(&to, &level->staged, err);
	if (r == 0)
		syncer_add(p->q->syncer, to.dir, to.name, false);
	return r;
}

int planner_remove(struct planner *p, const struct change *c,
		   struct hb_error *err)
{
	struct level level = { .len = strlen(c->path),
			       .is_removed = true,
			       .slot = p->slot++,
			       .change = *c };
	int r;

	r = planner_need_parent(p, c->path, err);
	if (r == 0)
		r = stage_removed(p, c, &level, err);
	if (r == 0)
		r = planner_push(p, &level, err);
	return r < 0 ? r
		     : planner_write_dir(p, &p->levels[p->depth - 1], NULL,
					 err);
}

bool planner_is_copied(const struct planner *p)
{
	for (size_t i = 0; i < p->depth; i++)
		if (p->levels[i].is_copied)
			return true;
	return !p->can_move;
}

bool planner_can_leave(const struct planner *p)
{
	for (size_t i = 0; i < p->depth; i++)
		if (p->levels[i].keeps_layer)
			return false;
	return p->can_leave;
}

gid_t planner_group(const struct level *parent, const struct change *c)
{
	if (sys_effective_uid() == 0)
		return c->new.gid;
	if (c->old.type != ENTRY_NONE)
		return c->old.gid;
	return parent && parent->gives_group ? parent->group : c->new.gid;
}

void planner_set_final(const struct level *parent, const struct change *c,
		       struct op *op)
{
	op->mode = c->new.mode;
	op->uid = c->new.uid;
	op->gid = planner_group(parent, c);
}

const struct level *planner_parent(const struct planner *p)
{
	return p->depth > 0 ? &p->levels[p->depth - 1] : NULL;
}

int planner_set_layer(struct planner *p, struct op *op, struct hb_error *err)
{
	int r;

	if (!planner_can_leave(p))
		return 0;
	r = site_read_upper(p->site, op, &op->layer, err);
	if (r == 0 && op->layer.type != ENTRY_NONE)
		op->flags |= OP_LAYER_MOVES;
	return r;
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
static int stage_real(struct planner *p, const struct standin *in,
		      struct op *op, struct hb_error *err)
{
	const char *slash = strrchr(in->real, '/');
	const char *name = slash ? slash + 1 : in->real;
	auto_fd int dir = access_open_below(
		p->site->resource->base, in->real,
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
	r = site_source(p->site, op, &to, err);
	if (r < 0)
		return r;
	r = sys_linkat(dir, name, to.dir, to.name);
	if (r < 0)
		return fail_real(op->path, in->real, r, err);
	return place_read(&to, &op->new, err);
}

/* 1: it is the real file's, and staged; 0: it is to be copied. */
static int stage_stand_in(struct planner *p, const struct change *c,
			  struct op *op, struct hb_error *err)
{
	const struct content_place source = {
		.root = p->site->resource->layers[c->layer],
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
	r = stage_real(p, &in, op, err);
	return r < 0 ? r : 1;
}

int planner_stage(struct planner *p, const struct change *c, struct op *op,
		  struct hb_error *err)
{
	const struct content_place source = {
		.root = p->site->resource->layers[c->layer],
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

	op->source = SOURCE_STAGED;
	r = stage_stand_in(p, c, op, err);
	if (r != 0)
		return r < 0 ? r : 0;
	r = preflight_space(p->site,
			    c->new.type == ENTRY_FILE ? c->new.stored : 0, err);
	if (r < 0)
		return planner_fail(op->path, r, "cannot copy", err);
	r = content_enter(&source, &from, &carry.name, err);
	carry.from = from.fd;
	if (r == 0)
		r = site_source(p->site, op, &to, err);
	if (r == 0)
		r = c->link_group != 0
			    ? linked_copy(&p->linked, &carry, c->link_group,
					  to.dir, to.name, err)
			    : carry_copy(&carry, to.dir, to.name, err);
	left = content_leave(&from, r < 0 ? NULL : err);
	if (r == 0)
		r = left < 0 ? left : place_read(&to, &op->new, err);
	if (r < 0)
		return r;
	if (op->new.type == ENTRY_FILE || op->new.type == ENTRY_DIR)
		syncer_add(p->q->syncer, to.dir, to.name,
			   op->new.type == ENTRY_FILE);
	return 0;
}

/* The newest directory of that path that some layer has. */
static int read_layer_dir(const struct txn_resource *res, const char *path,
			  size_t len, size_t *ret_layer, struct entry *ret)
{
	for (size_t i = 0; i < res->n_layers; i++) {
		auto_fd int fd =
			content_find_dir(res->layers[i], path, len, NULL);

		if (fd < 0)
			continue;
		*ret_layer = i;
		return entry_read_fd(fd, true, ret, NULL);
	}
	return -ENOENT;
}

static int add_dir_xattrs(const struct planner *p, const struct change *c,
			  int base, struct op *op, struct buf *list[2],
			  struct hb_error *err)
{
	const struct txn_resource *res = p->site->resource;
	auto_fd int layer = content_find_dir(res->layers[c->layer], op->path,
					     strlen(op->path), err);
	int r;

	if (layer < 0)
		return layer;
	r = carry_read_xattrs(base, &c->old, 0, list[0], err);
	if (r == 0)
		r = carry_read_xattrs(layer, &c->new,
				      CARRY_FROM_LAYER | CARRY_TO_BASE, list[1],
				      err);
	/* What the directory has of them is not the session's to take. */
	if (r == 0)
		r = carry_read_xattrs(base, &c->old, CARRY_RESERVED, list[1],
				      err);
	if (r < 0)
		return r;
	op->flags |= OP_XATTRS;
	op->old_xattrs = (struct xattr_list){ buf_str(list[0]), list[0]->len };
	op->new_xattrs = (struct xattr_list){ buf_str(list[1]), list[1]->len };
	return 0;
}

/*
 * Whether all in the directory is in conflict because it was moved there.  Then
 * it must not count as seen while something of it is still pending.
 */
static enum conflict doubt_about(const struct planner *p, const char *path,
				 const struct sys_attr *a)
{
	struct conflict_rule rule = p->q->rule;
	const struct sighting s = { .path = path,
				    .old = { .type = ENTRY_DIR,
					     .ino = a->ino,
					     .ctime = a->ctime,
					     .mtime = a->mtime,
					     .btime = a->btime } };

	rule.is_overlay = p->site->is_overlay;
	return conflict_below(&rule, &s) == CONFLICT_NONE ? CONFLICT_NONE
							  : CONFLICT_MOVED;
}

/* The directory as it is in the base, or as it will be. */
static int read_dir(struct planner *p, const struct level *level, struct op *op,
		    int *ret_fd, struct hb_error *err)
{
	struct sys_attr a;
	int fd, r;

	if (level->is_new) {
		op->old = level->staged;
		op->flags |= OP_IN_NEW;
		return 0;
	}
	fd = access_open_below(p->site->resource->base, op->path, level->len,
			       O_PATH, NULL);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return planner_fail(op->path, -HB_E_CONFLICT,
				    "somebody has just removed the directory",
				    err);
	if (fd < 0)
		return planner_fail(op->path, fd, "cannot open the directory",
				    err);
	*ret_fd = fd;
	op->flags |= site_rises(p->site, 1);
	r = sys_attr_at(fd, "", &a);
	if (r < 0)
		return planner_fail(op->path, r, "cannot look at", err);
	op->old = object_of_attr(&a);
	op->accepted = doubt_about(p, op->path, &a);
	return preflight_dir(p->site, fd, &op->old, op->path, err);
}

int planner_write_dir(struct planner *p, struct level *level,
		      const struct change *c, struct hb_error *err)
{
	auto_buf struct buf old = BUF_INIT(CARRY_XATTRS_MAX);
	auto_buf struct buf new = BUF_INIT(CARRY_XATTRS_MAX);
	struct buf *lists[2] = { &old, &new };
	auto_free char *path = strndup(buf_str(&p->path), level->len);
	struct op op = { .kind = OP_DIRECTORY,
			 .resource = p->q->resource,
			 .path = path };
	struct entry layer;
	auto_fd int fd = -1;
	size_t which;
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	r = read_dir(p, level, &op, &fd, err);
	if (r < 0)
		return r;
	op.new = op.old;
	if (level->is_removed) {
		op.new.ino = level->staged.ino;
		op.new.btime = level->staged.btime;
		op.flags |= OP_REMADE;
	}
	op.mode = op.old.mode;
	op.uid = op.old.uid;
	op.gid = op.old.gid;
	if (level->is_new)
		op.mode = level->change.new.mode;
	if (c && !(c->flags & CHANGE_CARRIED)) {
		planner_set_final(NULL, c, &op);
		if (c->conflict == CONFLICT_DIR)
			op.accepted = CONFLICT_DIR;
	}
	if (c && (c->what & CHANGED_XATTRS) && !level->is_new) {
		r = add_dir_xattrs(p, c, fd, &op, lists, err);
		if (r < 0)
			return r;
	}
	if (read_layer_dir(p->site->resource, path, level->len, &which,
			   &layer) == 0) {
		/*
		 * The time that somebody else gave it is all that tells of a
		 * name that he removed.
		 */
		if (level->is_new ||
		    !conflict_is_others_too(&p->q->rule, path, op.old.mtime))
			op.new.mtime = layer.mtime;
		if (p->can_leave && which == 0)
			op.layer = object_of(&layer);
	}
	level->has_op = true;
	level->gives_group = op.mode & S_ISGID;
	level->group = op.gid;
	return journal_add(p->q->writer, &op, err);
}

static int find_parent(struct planner *p, const struct op *op,
		       struct place *ret, struct object *ret_dir,
		       struct hb_error *err)
{
	struct sys_attr a;
	int r = site_base(p->site, op, ret, err);

	if (r < 0)
		return r;
	if (ret->dir < 0)
		return planner_fail(op->path, -HB_E_CONFLICT,
				    "the directory has vanished of", err);
	r = sys_attr_at(ret->dir, "", &a);
	if (r < 0)
		return planner_fail(op->path, r, "cannot look at", err);
	*ret_dir = object_of_attr(&a);
	return 0;
}

/* For an undo, which then finds another object with the same entries. */
static int name_index(struct planner *p, struct op *op, struct hb_error *err)
{
	struct place at;
	int r;

	if (op->new.type != ENTRY_FILE ||
	    !git_is_index_path(site_git_root(p->site), op->path))
		return 0;
	r = site_source(p->site, op, &at, err);
	if (r == 0 && at.dir >= 0)
		op->new.entries = git_index_name(at.dir, at.name);
	return r;
}

int planner_write_op(struct planner *p, struct op *op, struct hb_error *err)
{
	struct object dir;
	struct place at;
	int r;

	if (op->old.type != ENTRY_NONE) {
		r = find_parent(p, op, &at, &dir, err);
		if (r == 0)
			r = preflight_old(at.dir, &dir, op, err);
		if (r < 0)
			return r;
	}
	r = name_index(p, op, err);
	return r < 0 ? r : journal_add(p->q->writer, op, err);
}

int planner_make_level(struct planner *p, size_t i, struct hb_error *err)
{
	struct level *level = &p->levels[i];
	auto_free char *path = strndup(buf_str(&p->path), level->len);
	struct change c = level->change;
	struct op op = { .kind = c.old.type == ENTRY_NONE ? OP_ADD : OP_REPLACE,
			 .flags = site_rises(p->site, c.old.nlink),
			 .resource = p->q->resource,
			 .slot = p->slot++,
			 .path = path,
			 .old = object_of(&c.old),
			 .accepted = (enum conflict)c.conflict };
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	c.path = path;
	planner_set_final(i > 0 ? &p->levels[i - 1] : NULL, &c, &op);
	/* Closed, it would take nothing in: it is when all of it is there. */
	op.mode |= USER_ALL;
	r = planner_stage(p, &c, &op, err);
	if (r == 0)
		r = planner_write_op(p, &op, err);
	level->is_pending = false;
	level->is_new = true;
	level->staged = op.new;
	return r < 0 ? r : planner_write_dir(p, level, NULL, err);
}

/*
 * The directory in which the name of length `len` lies gets its operation; its
 * level is the one below `*at`, or is put there.
 */
static int open_parent(struct planner *p, size_t len, size_t *at,
		       struct hb_error *err)
{
	struct level parent = { 0 };
	int r;

	while (len > 0 && buf_str(&p->path)[len - 1] != '/')
		len--;
	parent.len = len > 0 ? len - 1 : 0;
	if (*at == 0 || p->levels[*at - 1].len < parent.len) {
		/* At the end, and from there to its place. */
		r = planner_push(p, &parent, err);
		if (r < 0)
			return r;
		assert(p->levels);
		memmove(&p->levels[*at + 1], &p->levels[*at],
			(p->depth - 1 - *at) * sizeof(parent));
		p->levels[*at] = parent;
		++*at;
	}
	if (p->levels[*at - 1].has_op)
		return 0;
	return planner_write_dir(p, &p->levels[*at - 1], NULL, err);
}

int planner_need_parent(struct planner *p, const char *path,
			struct hb_error *err)
{
	size_t at;
	int r;

	for (size_t i = 0; i < p->depth; i++) {
		if (p->levels[i].is_blocked) {
			hb_fix(err, "commit the directory above it as well");
			return planner_fail(
				path, -HB_E_USAGE,
				"not without what it lies in:", err);
		}
		if (!p->levels[i].is_pending)
			continue;
		r = open_parent(p, p->levels[i].len, &i, err);
		if (r == 0)
			r = planner_make_level(p, i, err);
		if (r < 0)
			return r;
	}
	at = p->depth;
	return open_parent(p, strlen(path), &at, err);
}
