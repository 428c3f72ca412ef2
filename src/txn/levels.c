/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/levels.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/mode.h"
#include "changes/git/deliver.h"
#include "changes/walk.h"
#include "sys/attr.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/content.h"
#include "txn/preflight.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LEVELS_MAX ((size_t)1 << 20)

int levels_push(struct planner *p, const struct level *level,
		struct hb_error *err)
{
	if (p->depth >= LEVELS_MAX || grow(p->levels, p->depth) < 0)
		return hb_fail(err, -ENOMEM, "the tree is too deep");
	p->levels[p->depth++] = *level;
	return 0;
}

void levels_done(struct planner *p)
{
	for (size_t i = 0; i < p->n_written; i++)
		free(p->written[i].path);
	free(p->written);
	free(p->levels);
	p->written = NULL;
	p->levels = NULL;
}

bool levels_is_below(const char *path, const char *dir, size_t len)
{
	return len == 0 || (strncmp(path, dir, len) == 0 && path[len] == '/');
}

bool levels_leave(struct planner *p, const char *path, struct level *ret)
{
	if (p->depth == 0 ||
	    (path && levels_is_below(path, buf_str(&p->path),
				     p->levels[p->depth - 1].len)))
		return false;
	*ret = p->levels[--p->depth];
	return true;
}

bool levels_is_copied(const struct planner *p)
{
	for (size_t i = 0; i < p->depth; i++)
		if (p->levels[i].is_copied)
			return true;
	return !p->way.can_move;
}

bool levels_can_leave(const struct planner *p)
{
	for (size_t i = 0; i < p->depth; i++)
		if (p->levels[i].keeps_layer)
			return false;
	return p->way.can_leave;
}

gid_t levels_group(const struct level *parent, const struct change *c)
{
	if (sys_effective_uid() == 0)
		return c->new.gid;
	if (c->old.type != ENTRY_NONE)
		return c->old.gid;
	return parent && parent->gives_group ? parent->group : c->new.gid;
}

void levels_set_final(const struct level *parent, const struct change *c,
		      struct op *op)
{
	op->mode = c->new.mode;
	op->uid = c->new.uid;
	op->gid = levels_group(parent, c);
}

const struct level *levels_parent(const struct planner *p)
{
	return p->depth > 0 ? &p->levels[p->depth - 1] : NULL;
}

int levels_clear_upper(struct planner *p, struct op *op, struct hb_error *err)
{
	return levels_can_leave(p) ? way_clear_upper(&p->way, op, err) : 0;
}

/* The newest directory of that path that some layer has. */
static int read_layer_dir(const struct resource *res, const char *path,
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
	const struct resource *res = p->site->resource;
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
	op->effect |= OP_XATTRS;
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
		op->effect |= OP_IN_NEW;
		return 0;
	}
	fd = access_open_below(p->site->resource->base, op->path, level->len,
			       O_PATH, NULL);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return way_fail(op->path, -HB_E_CONFLICT,
				"the directory was removed meanwhile", err);
	if (fd < 0)
		return way_fail(op->path, fd, "cannot open the directory", err);
	*ret_fd = fd;
	op->identity |= site_rises(p->site, 1);
	r = sys_attr_at(fd, "", &a);
	if (r < 0)
		return way_fail(op->path, r, "cannot look at", err);
	op->old = object_of_attr(&a);
	op->accepted = doubt_about(p, op->path, &a);
	return preflight_dir(p->site, fd, &op->old, op->path, err);
}

/*
 * A directory has one operation, before all that is in it: the way back closes
 * it when all else is done.  So a later turn has to find that of an earlier
 * one.
 */
static bool recall(const struct planner *p, const char *path,
		   struct level *level)
{
	for (size_t i = 0; i < p->n_written; i++) {
		const struct level_written *w = &p->written[i];

		if (strcmp(w->path, path) != 0)
			continue;
		level->has_op = true;
		level->gives_group = w->gives_group;
		level->group = w->group;
		return true;
	}
	return false;
}

/* Only of a directory that an item lies in. */
static int remember(struct planner *p, const char *path,
		    const struct level *level)
{
	const struct delivered *d = changes_delivered(p->q->changes);
	bool is_needed = false;

	for (size_t i = 0; !is_needed && i < d->n; i++)
		is_needed = levels_is_below(d->items[i].path, path, level->len);
	if (!is_needed)
		return 0;
	if (grow(p->written, p->n_written) < 0)
		return -ENOMEM;
	p->written[p->n_written] = (struct level_written){
		.path = strdup(path),
		.gives_group = level->gives_group,
		.group = level->group,
	};
	if (!p->written[p->n_written].path)
		return -ENOMEM;
	p->n_written++;
	return 0;
}

int levels_write_dir(struct planner *p, struct level *level,
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
	if (recall(p, path, level))
		return 0;
	r = read_dir(p, level, &op, &fd, err);
	if (r < 0)
		return r;
	op.new = op.old;
	if (level->is_removed) {
		op.new.ino = level->staged.ino;
		op.new.btime = level->staged.btime;
		op.identity |= OP_REMADE;
	}
	op.mode = op.old.mode;
	op.uid = op.old.uid;
	op.gid = op.old.gid;
	if (level->is_new)
		op.mode = level->change.new.mode;
	if (c && !(c->flags & CHANGE_CARRIED)) {
		levels_set_final(NULL, c, &op);
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
		 * The time that another program gave it is the only sign of a
		 * name that the program removed.
		 */
		if (level->is_new ||
		    !conflict_is_others_too(&p->q->rule, path, op.old.mtime))
			op.new.mtime = layer.mtime;
		if (p->way.can_leave && which == 0)
			op.layer = object_of(&layer);
	}
	level->has_op = true;
	level->gives_group = op.mode & S_ISGID;
	level->group = op.gid;
	if (remember(p, path, level) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
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
		return way_fail(op->path, -HB_E_CONFLICT,
				"the directory has vanished of", err);
	r = sys_attr_at(ret->dir, "", &a);
	if (r < 0)
		return way_fail(op->path, r, "cannot look at", err);
	*ret_dir = object_of_attr(&a);
	return 0;
}

int levels_write_op(struct planner *p, struct op *op, struct hb_error *err)
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
	r = way_name_index(&p->way, op, err);
	return r < 0 ? r : journal_add(p->q->writer, op, err);
}

int levels_make(struct planner *p, size_t i, struct hb_error *err)
{
	struct level *level = &p->levels[i];
	auto_free char *path = strndup(buf_str(&p->path), level->len);
	struct change c = level->change;
	struct op op = { .kind = c.old.type == ENTRY_NONE ? OP_ADD : OP_REPLACE,
			 .identity = site_rises(p->site, c.old.nlink),
			 .resource = p->q->resource,
			 .slot = p->slot++,
			 .path = path,
			 .old = object_of(&c.old),
			 .accepted = (enum conflict)c.conflict };
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	c.path = path;
	levels_set_final(i > 0 ? &p->levels[i - 1] : NULL, &c, &op);
	/* Closed, it would take nothing in: it is when all of it is there. */
	op.mode |= USER_ALL;
	r = way_copy(&p->way, &c, &op, err);
	if (r == 0)
		r = levels_write_op(p, &op, err);
	level->is_pending = false;
	level->is_new = true;
	level->staged = op.new;
	return r < 0 ? r : levels_write_dir(p, level, NULL, err);
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
		r = levels_push(p, &parent, err);
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
	return levels_write_dir(p, &p->levels[*at - 1], NULL, err);
}

int levels_need_parent(struct planner *p, const char *path,
		       struct hb_error *err)
{
	size_t at;
	int r;

	for (size_t i = 0; i < p->depth; i++) {
		if (p->levels[i].is_blocked) {
			hb_fix(err, "commit the directory above it as well");
			return way_fail(path, -HB_E_USAGE,
					"not without its directory:", err);
		}
		if (!p->levels[i].is_pending)
			continue;
		r = open_parent(p, p->levels[i].len, &i, err);
		if (r == 0)
			r = levels_make(p, i, err);
		if (r < 0)
			return r;
	}
	at = p->depth;
	return open_parent(p, strlen(path), &at, err);
}
