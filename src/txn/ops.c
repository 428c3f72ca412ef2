/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/ops.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "txn/access.h"
#include "txn/carry.h"
#include "txn/content.h"
#include "txn/movable.h"
#include "txn/preflight.h"
#include "txn/tree.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * From changes to operations
 * --------------------------
 *
 * The stream is in path order, a directory before what is in it.  A directory
 * that appears or vanishes with everything in it is one operation, if all of it
 * is wanted; what it holds is then skipped.  Otherwise:
 *
 *	appears, in part	an empty copy of it, and what is wanted in it
 *	vanishes, in part	what is wanted, and it stays
 *	opaque, in part		it stays, and what is wanted in it
 *
 * An object is moved out of the upper, unless that would change what the rest
 * of the upper means or something of the object would be lost on its way back:
 * then a copy is staged.  That is so
 *	- on another file system, in a shared layer or one of several,
 *	- below an opaque directory that stays, which would hide what arrived,
 *	- for an inode of which some name stays,
 *	- for what movable.c names.
 * The original of a copy leaves the upper as well, where that is allowed.
 *
 * Every directory in which names change is an operation of its own, before
 * them, because it may have to be opened up and gets its times back.
 */

#define PATH_SIZE  ((size_t)256 << 20)
#define LEVELS_MAX ((size_t)1 << 20)

/* A directory on the way to the change at hand. */
struct level {
	size_t len;	  /* of its path */
	bool has_op;	  /* its OP_DIRECTORY is written */
	bool is_new;	  /* `staged` will be there */
	bool is_pending;  /* it appears as soon as something is in it */
	bool is_blocked;  /* it would take the place of something else */
	bool is_copied;	  /* what is in it is copied */
	bool keeps_layer; /* and the originals stay, or left with it */
	bool gives_group; /* has_op: what is new in it gets its group */
	gid_t group;
	struct object staged;
	struct change change; /* is_pending: without its pointers */
};

struct planner {
	const struct ops_request *q;
	struct site *site;
	uint64_t slot, number;
	bool can_move, can_leave;
	bool has_links;	 /* names of the form g<INODE> are in txn/ID */
	struct buf path; /* of the change at hand */
	struct buf skip; /* everything below this is done; empty: none */
	struct level *levels;
	size_t depth, room;
};

static int fail_at(const char *path, int r, const char *what,
		   struct hb_error *err)
{
	char shown[QUOTE_SHOWN];

	return hb_fail(err, r, "%s %s", what,
		       quote_shown(*path ? path : ".", shown, sizeof(shown)));
}

static int push(struct planner *p, const struct level *level,
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

static bool is_below(const char *path, const char *dir, size_t len)
{
	return len == 0 || (strncmp(path, dir, len) == 0 && path[len] == '/');
}

static void leave(struct planner *p, const char *path)
{
	while (p->depth > 0 &&
	       !is_below(path, buf_str(&p->path), p->levels[p->depth - 1].len))
		p->depth--;
}

static bool is_copied(const struct planner *p)
{
	for (size_t i = 0; i < p->depth; i++)
		if (p->levels[i].is_copied)
			return true;
	return !p->can_move;
}

static bool can_leave(const struct planner *p)
{
	for (size_t i = 0; i < p->depth; i++)
		if (p->levels[i].keeps_layer)
			return false;
	return p->can_leave;
}

static bool is_below_new(const struct planner *p)
{
	return p->depth > 0 && p->levels[p->depth - 1].is_new;
}

/*
 * The group.  A user has one in the view, so that one there means nothing: what
 * is replaced keeps its group, and what is new gets what it would have got in
 * the real directory.  `parent` is the level it lies in, NULL if it is known to
 * replace something.
 */
static gid_t final_group(const struct level *parent, const struct change *c)
{
	if (sys_effective_uid() == 0)
		return c->new.gid;
	if (c->old.type != ENTRY_NONE)
		return c->old.gid;
	return parent && parent->gives_group ? parent->group : c->new.gid;
}

static void set_final(const struct level *parent, const struct change *c,
		      struct op *op)
{
	op->mode = c->new.mode;
	op->uid = c->new.uid;
	op->gid = final_group(parent, c);
}

/* The level that the change at hand lies in, once it has its operation. */
static const struct level *parent_of(const struct planner *p)
{
	return p->depth > 0 ? &p->levels[p->depth - 1] : NULL;
}

/*
 * Whether what is in a directory that moves has the right groups already; a
 * directory that hands its group down gave them the one of the view.
 */
static bool keeps_groups(const struct planner *p, const struct change *c)
{
	return !(c->new.mode &S_ISGID) ||
	       final_group(parent_of(p), c) == c->new.gid;
}

/* What lies in the upper at the path, if it may and has to leave. */
static int set_layer(struct planner *p, struct op *op, struct hb_error *err)
{
	struct place place;
	int r;

	if (!can_leave(p))
		return 0;
	r = site_upper(p->site, op, &place, err);
	if (r == 0)
		r = place_read(&place, &op->layer, err);
	if (r == 0 && op->layer.type != ENTRY_NONE)
		op->flags |= OP_LAYER_MOVES;
	return r;
}

/* Copies of several names of one inode are names of one inode. */
static int stage_link(struct planner *p, const struct carry *carry,
		      const struct change *c, const char *name,
		      struct hb_error *err)
{
	int to = p->site->dirs[SITE_SPOT_TXN];
	struct sys_attr a;
	char first[32];
	int r;

	(void)snprintf(first, sizeof(first), "g%llu",
		       (unsigned long long)c->link_group);
	r = sys_attr_at(to, first, &a);
	if (r == -ENOENT) {
		p->has_links = true;
		r = carry_copy(carry, to, first, err);
	}
	if (r == 0)
		r = sys_linkat(to, first, to, name);
	return r < 0 ? fail_at(c->path, r, "cannot copy", err) : 0;
}

static int stage(struct planner *p, const struct change *c, struct op *op,
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
		.flags = CARRY_FROM_LAYER | CARRY_CAPABILITIES,
		.mode = op->mode,
		.uid = op->uid,
		.gid = op->gid,
	};
	int left, r;

	op->source = SOURCE_STAGED;
	r = preflight_space(p->site,
			    c->new.type == ENTRY_FILE ? c->new.stored : 0, err);
	if (r < 0)
		return fail_at(op->path, r, "cannot copy", err);
	r = content_enter(&source, &from, &carry.name, err);
	carry.from = from.fd;
	if (r == 0)
		r = site_source(p->site, op, &to, err);
	if (r == 0)
		r = c->link_group != 0 && c->new.type == ENTRY_FILE
			    ? stage_link(p, &carry, c, to.name, err)
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
		auto_fd int fd = access_open_below(res->layers[i], path, len,
						   O_PATH, NULL);

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
	auto_fd int layer = access_open_below(res->layers[c->layer], op->path,
					      strlen(op->path), O_PATH, err);
	int r;

	if (layer < 0)
		return layer;
	r = carry_read_xattrs(base, &c->old, 0, list[0], err);
	if (r == 0)
		r = carry_read_xattrs(layer, &c->new, CARRY_FROM_LAYER, list[1],
				      err);
	if (r < 0)
		return r;
	op->flags |= OP_XATTRS;
	op->old_xattrs = (struct xattr_list){ buf_str(list[0]), list[0]->len };
	op->new_xattrs = (struct xattr_list){ buf_str(list[1]), list[1]->len };
	return 0;
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
			       O_PATH, err);
	if (fd < 0)
		return fail_at(op->path, fd, "cannot open the directory", err);
	*ret_fd = fd;
	op->flags |= site_rises(p->site, 1);
	r = sys_attr_at(fd, "", &a);
	if (r < 0)
		return fail_at(op->path, r, "cannot look at", err);
	op->old = object_of_attr(&a);
	return preflight_dir(p->site, fd, &op->old, op->path, err);
}

/*
 * Writes the OP_DIRECTORY of a level; `c` has attributes for it, or is NULL.
 * The path is that of the change at hand up to the level's length.
 */
static int write_dir(struct planner *p, struct level *level,
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
	op.mode = op.old.mode;
	op.uid = op.old.uid;
	op.gid = op.old.gid;
	if (c && !(c->flags & CHANGE_CARRIED))
		set_final(NULL, c, &op);
	if (c && (c->what & CHANGED_XATTRS) && !level->is_new) {
		r = add_dir_xattrs(p, c, fd, &op, lists, err);
		if (r < 0)
			return r;
	}
	if (read_layer_dir(p->site->resource, path, level->len, &which,
			   &layer) == 0) {
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
		return fail_at(op->path, -HB_E_CONFLICT,
			       "the directory has vanished of", err);
	r = sys_attr_at(ret->dir, "", &a);
	if (r < 0)
		return fail_at(op->path, r, "cannot look at", err);
	*ret_dir = object_of_attr(&a);
	return 0;
}

static int write_op(struct planner *p, struct op *op, struct hb_error *err)
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
	return journal_add(p->q->writer, op, err);
}

/* Makes the level's directory appear, empty. */
static int make_level(struct planner *p, size_t i, struct hb_error *err)
{
	struct level *level = &p->levels[i];
	auto_free char *path = strndup(buf_str(&p->path), level->len);
	struct change c = level->change;
	struct op op = { .kind = c.old.type == ENTRY_NONE ? OP_ADD : OP_REPLACE,
			 .flags = site_rises(p->site, c.old.nlink),
			 .resource = p->q->resource,
			 .slot = p->slot++,
			 .path = path,
			 .old = object_of(&c.old) };
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	c.path = path;
	set_final(i > 0 ? &p->levels[i - 1] : NULL, &c, &op);
	r = stage(p, &c, &op, err);
	if (r == 0)
		r = write_op(p, &op, err);
	level->is_pending = false;
	level->is_new = true;
	level->staged = op.new;
	return r < 0 ? r : write_dir(p, level, NULL, err);
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
		r = push(p, &parent, err);
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
	return write_dir(p, &p->levels[*at - 1], NULL, err);
}

/* Everything above the change at hand is there and may be changed. */
static int need_parent(struct planner *p, const char *path,
		       struct hb_error *err)
{
	size_t at;
	int r;

	for (size_t i = 0; i < p->depth; i++) {
		if (p->levels[i].is_blocked) {
			hb_fix(err, "commit the directory above it as well");
			return fail_at(path, -HB_E_USAGE,
				       "not without what it lies in:", err);
		}
		if (!p->levels[i].is_pending)
			continue;
		r = open_parent(p, p->levels[i].len, &i, err);
		if (r == 0)
			r = make_level(p, i, err);
		if (r < 0)
			return r;
	}
	at = p->depth;
	return open_parent(p, strlen(path), &at, err);
}

static int skip_below(struct planner *p, const char *path, struct hb_error *err)
{
	int r;

	buf_cut(&p->skip, 0);
	r = buf_add_str(&p->skip, path);
	return r < 0 ? hb_fail(err, r, "cannot keep a path") : 0;
}

/* From the upper, with all that is in it. */
static int write_moved(struct planner *p, const struct change *c, struct op *op,
		       struct hb_error *err)
{
	op->source = SOURCE_LAYER;
	op->new = object_of(&c->new);
	if (c->new.is_opaque)
		op->flags |= OP_OPAQUE;
	if (c->new.has_origin)
		op->flags |= OP_ORIGIN;
	return write_op(p, op, err);
}

static struct op new_op(struct planner *p, const struct change *c)
{
	struct op op = { .flags = site_rises(p->site, c->old.nlink),
			 .resource = p->q->resource,
			 .slot = p->slot++,
			 .path = c->path,
			 .old = object_of(&c->old) };

	/* Its place is in a directory that is new itself. */
	if (is_below_new(p))
		op.old = (struct object){ .type = ENTRY_NONE };
	else if (c->flags & CHANGE_OLD_LINKED)
		op.flags |= OP_LINKED;
	op.kind = c->new.type == ENTRY_NONE   ? OP_DELETE
		  : op.old.type == ENTRY_NONE ? OP_ADD
					      : OP_REPLACE;
	if (op.kind != OP_DELETE)
		set_final(parent_of(p), c, &op);
	return op;
}

static int plan_deletion(struct planner *p, const struct change *c,
			 bool is_partial, struct hb_error *err)
{
	struct op op;
	int r;

	/* With something in it that stays, it stays itself. */
	if (is_partial)
		return 0;
	r = need_parent(p, c->path, err);
	if (r < 0)
		return r;
	op = new_op(p, c);
	r = set_layer(p, &op, err);
	if (r == 0)
		r = write_op(p, &op, err);
	if (r < 0 || c->old.type != ENTRY_DIR)
		return r;
	return skip_below(p, c->path, err);
}

static int plan_object(struct planner *p, const struct change *c,
		       bool is_partial, struct hb_error *err)
{
	struct movable_request m = { .site = p->site,
				     .syncer = p->q->syncer,
				     .change = c };
	struct op op;
	int r;

	/* It would take the place of a directory with something that stays. */
	if (is_partial && c->old.type == ENTRY_DIR)
		return 0;
	r = need_parent(p, c->path, err);
	if (r < 0)
		return r;
	op = new_op(p, c);
	r = is_copied(p) || !survey_has_all_links(p->q->survey, c)
		    ? 0
		    : movable_check(&m, err);
	if (r == 1) {
		r = write_moved(p, c, &op, err);
	} else if (r == 0) {
		r = stage(p, c, &op, err);
		if (r == 0)
			r = set_layer(p, &op, err);
		if (r == 0)
			r = write_op(p, &op, err);
	}
	if (r < 0 || c->old.type != ENTRY_DIR)
		return r;
	return skip_below(p, c->path, err);
}

/* A directory of both sides: its attributes, and its being opaque. */
static int plan_both_dirs(struct planner *p, const struct change *c, bool takes,
			  struct hb_error *err)
{
	struct level level = { .len = strlen(c->path) };
	int r;

	if (c->flags & CHANGE_OPAQUE) {
		level.is_copied = true;
		level.keeps_layer = true;
	}
	r = push(p, &level, err);
	if (r < 0 || !takes)
		return r;
	return write_dir(p, &p->levels[p->depth - 1], c, err);
}

/* Opaque, wholly wanted, and not to be moved: in place, by what is in it. */
static int plan_opaque_copy(struct planner *p, const struct change *c,
			    struct hb_error *err)
{
	struct op op = { .kind = OP_LAYER,
			 .resource = p->q->resource,
			 .slot = p->slot++,
			 .path = c->path };
	int r;

	r = set_layer(p, &op, err);
	if (r == 0 && (op.flags & OP_LAYER_MOVES)) {
		/* The likeness above it loses a name. */
		r = need_parent(p, c->path, err);
		if (r == 0)
			r = journal_add(p->q->writer, &op, err);
	}
	return r < 0 ? r : plan_both_dirs(p, c, true, err);
}

/* A directory that appears, with everything in it or in part. */
static int plan_new_dir(struct planner *p, const struct change *c, bool takes,
			bool is_partial, struct hb_error *err)
{
	struct level level = { .len = strlen(c->path), .change = *c };
	bool is_left = !is_partial && (c->new.is_opaque || is_copied(p));
	struct op op;
	int r;

	level.is_pending = true;
	level.is_blocked = !takes && c->old.type != ENTRY_NONE;
	/* Opaque, it would hide what arrived below it. */
	level.is_copied = c->new.is_opaque || is_left;
	level.keeps_layer = level.is_copied;
	r = takes ? need_parent(p, c->path, err) : 0;
	if (r < 0)
		return r;
	op = (struct op){ .resource = p->q->resource, .path = c->path };
	if (is_left && can_leave(p)) {
		/* All of the original goes at once. */
		op.kind = OP_LAYER;
		op.slot = p->slot++;
		r = set_layer(p, &op, err);
		if (r == 0 && (op.flags & OP_LAYER_MOVES))
			r = journal_add(p->q->writer, &op, err);
	}
	if (r == 0)
		r = push(p, &level, err);
	return r < 0 || !takes ? r : make_level(p, p->depth - 1, err);
}

static int plan_dir(struct planner *p, const struct change *c, bool takes,
		    bool is_partial, struct hb_error *err)
{
	bool is_opaque = c->flags & CHANGE_OPAQUE;
	struct movable_request m = { .site = p->site,
				     .syncer = p->q->syncer,
				     .change = c };
	struct op op;
	int r;

	if (is_partial)
		return is_opaque ? plan_both_dirs(p, c, takes, err)
				 : plan_new_dir(p, c, takes, is_partial, err);
	/* Which group it gets is known from then on. */
	r = is_opaque ? 0 : need_parent(p, c->path, err);
	if (r < 0)
		return r;
	r = is_copied(p) || !keeps_groups(p, c) ? 0 : movable_check(&m, err);
	if (r < 0)
		return r;
	if (r == 0)
		return is_opaque ? plan_opaque_copy(p, c, err)
				 : plan_new_dir(p, c, takes, false, err);
	r = need_parent(p, c->path, err);
	if (r < 0)
		return r;
	op = new_op(p, c);
	r = write_moved(p, c, &op, err);
	return r < 0 ? r : skip_below(p, c->path, err);
}

static int plan_one(struct planner *p, const struct change *c,
		    struct hb_error *err)
{
	bool takes = survey_takes(p->q->options, c);
	bool is_whole = survey_is_whole_dir(c), is_partial = false;
	int r;

	if (is_whole)
		is_partial = survey_is_partial(p->q->survey, p->number++);
	if (p->skip.len > 0 &&
	    is_below(c->path, buf_str(&p->skip), p->skip.len))
		return preflight_inside(&c->old, c->path, err);
	buf_cut(&p->skip, 0);
	leave(p, c->path);
	buf_cut(&p->path, 0);
	r = buf_add_str(&p->path, c->path);
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	if (c->new.type == ENTRY_DIR)
		return is_whole ? plan_dir(p, c, takes, is_partial, err)
		       : takes	? plan_both_dirs(p, c, takes, err)
				: 0;
	if (!takes)
		return 0;
	return c->new.type == ENTRY_NONE ? plan_deletion(p, c, is_partial, err)
					 : plan_object(p, c, is_partial, err);
}

/* The root's times are carried as any directory's, unless it is shown. */
static int plan_top(struct planner *p, const struct change *c,
		    struct hb_error *err)
{
	struct level level = { 0 };
	bool takes = change_is_top(c) && survey_takes(p->q->options, c);
	int r;

	if (!takes && p->q->survey->has_rest)
		return 0;
	if (takes && sys_effective_uid() != 0 &&
	    sys_effective_uid() != c->old.uid) {
		hb_fix(err, "holdback commit --except .");
		return hb_fail(err, -EPERM,
			       "the directory '.' is somebody else's: cannot "
			       "change its attributes");
	}
	r = push(p, &level, err);
	return r < 0 ? r : write_dir(p, &p->levels[0], takes ? c : NULL, err);
}

static int plan_all(struct planner *p, struct hb_error *err)
{
	bool is_first = true;
	struct change c;
	int r;

	r = changes_rewind(p->q->changes, err);
	while (r >= 0 && (r = changes_next(p->q->changes, &c, err)) == 1) {
		r = is_first ? plan_top(p, &c, err) : 0;
		is_first = false;
		if (r >= 0 && !change_is_top(&c))
			r = plan_one(p, &c, err);
	}
	return r;
}

static int drop_first_name(void *ctx, const struct tree_visit *v,
			   struct hb_error *err)
{
	int r;

	(void)ctx;
	if (v->name[0] != 'g')
		return 0;
	r = sys_unlinkat(v->dir, v->name, 0);
	return r < 0 ? hb_fail(err, r, "cannot finish the copies") : 0;
}

int ops_write(const struct ops_request *request, uint64_t *ret_slot,
	      struct hb_error *err)
{
	const struct txn_resource *res = request->site->resource;
	struct planner p = {
		.q = request,
		.site = request->site,
		.slot = request->first_slot,
		.path = BUF_INIT(PATH_SIZE),
		.skip = BUF_INIT(PATH_SIZE),
	};
	int r;

	p.can_leave =
		res->n_layers == 1 && !(res->is_shared && res->is_shared[0]);
	p.can_move = p.can_leave && res->same_mount;
	r = preflight_space(request->site,
			    p.can_move ? 0 : request->survey->bytes, err);
	if (r == 0)
		r = plan_all(&p, err);
	if (r == 0 && p.has_links)
		r = tree_walk(request->site->dirs[SITE_SPOT_TXN], ".",
			      TREE_FLAT, drop_first_name, NULL, err);
	if (r == 0)
		syncer_add(request->syncer, request->site->dirs[SITE_SPOT_TXN],
			   ".", false);
	free(p.levels);
	buf_done(&p.path);
	buf_done(&p.skip);
	if (r < 0)
		return r;
	*ret_slot = p.slot;
	return 0;
}
