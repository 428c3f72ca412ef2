/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/site.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which directory of the store each lies in, and whether it has one per ID. */
static const struct {
	const char *name;
	bool is_in_spot;
	bool is_numbered;
	bool is_staged; /* copies */
} layout[SITE_DIRS] = {
	[SITE_SPOT_UNDO] = { "undo", true, true, false },
	[SITE_SPOT_TXN] = { "txn", true, true, true },
	[SITE_DIR_UNDO] = { "undo", false, true, false },
	[SITE_DIR_TXN] = { "txn", false, true, true },
	[SITE_DIR_TRASH] = { "trash", false, false, false },
};

static int parent_of(const struct site *s, int which)
{
	return layout[which].is_in_spot ? s->resource->spot : s->resource->dir;
}

/* What is synced for the one in the spot is synced for this one. */
static bool is_twin(const struct site *s, int which)
{
	return s->is_one && layout[which].is_numbered &&
	       !layout[which].is_in_spot;
}

static int open_one(struct site *s, int which, bool make, struct hb_error *err)
{
	auto_fd int top =
		sys_open_dir(parent_of(s, which), layout[which].name, make);
	auto_fd int fd = top;
	int r;

	if (!layout[which].is_numbered)
		top = -1;
	else if (top >= 0)
		fd = sys_open_dir(top, s->name, make);
	if (fd == -ENOENT)
		return 0;
	/* The way to what the journal speaks of, before the journal. */
	r = fd >= 0 && top >= 0 && make && !is_twin(s, which) ? sys_fsync(top)
							      : fd;
	if (r < 0)
		return hb_fail(err, r, "cannot open '%s/%s' of the session",
			       layout[which].name, s->name);
	s->dirs[which] = take_fd(&fd);
	return 0;
}

int site_sync(const struct site *s)
{
	for (int i = 0; i < SITE_DIRS; i++) {
		int r = s->dirs[i] < 0 || is_twin(s, i) ? 0
							: sys_fsync(s->dirs[i]);

		if (r < 0)
			return r;
	}
	return sys_fsync(s->resource->dir);
}

int site_open(struct site *s, const struct resource *resource, uint64_t id,
	      struct hb_error *err)
{
	struct sys_space space;

	*s = (struct site){ .resource = resource,
			    .id = id,
			    .base = { .root = resource->base, .fd = -1 },
			    .upper = { .root = -1, .fd = -1 } };
	(void)snprintf(s->name, sizeof(s->name), "%" PRIu64, id);
	for (int i = 0; i < SITE_DIRS; i++)
		s->dirs[i] = -1;
	if (resource->n_layers > 0)
		s->upper.root = resource->layers[0];
	s->is_one = sys_is_object(resource->spot, "", resource->dir);
	s->has_labels =
		sys_get_xattr(resource->base, "security.selinux", NULL, 0) > 0;
	s->is_overlay =
		sys_space(resource->base, &space) == 0 && space.is_overlay;
	for (int i = 0; i < SITE_DIRS; i++) {
		int r = open_one(s, i, false, err);

		if (r < 0) {
			site_close(s);
			return r;
		}
	}
	return 0;
}

int site_make(struct site *s, struct hb_error *err)
{
	int r;

	for (int i = 0; i < SITE_DIRS; i++) {
		r = s->dirs[i] < 0 ? open_one(s, i, true, err) : 0;
		if (r < 0)
			return r;
	}
	r = sys_fsync(s->resource->dir);
	if (r >= 0 && !s->is_one)
		r = sys_fsync(s->resource->spot);
	return r < 0 ? hb_fail(err, r, "cannot sync the session's directory")
		     : 0;
}

static void cursor_close(struct cursor *c)
{
	if (c->fd >= 0)
		sys_close(c->fd);
	free(c->path);
	c->fd = -1;
	c->path = NULL;
}

void site_forget(struct site *s)
{
	cursor_close(&s->base);
	cursor_close(&s->upper);
}

void site_close(struct site *s)
{
	/* A site that was never opened holds zeroes, which are descriptors. */
	if (!s->resource)
		return;
	site_forget(s);
	for (int i = 0; i < SITE_DIRS; i++)
		if (s->dirs[i] >= 0) {
			sys_close(s->dirs[i]);
			s->dirs[i] = -1;
		}
}

static int remove_one(struct site *s, int which, struct hb_error *err)
{
	auto_fd int top =
		sys_open_dir(parent_of(s, which), layout[which].name, false);
	int r;

	if (top < 0)
		return top == -ENOENT ? 0 : top;
	if (layout[which].is_staged)
		return tree_remove(top, s->name, err);
	r = sys_unlinkat(top, s->name, AT_REMOVEDIR);
	return r == -ENOENT || r == -ENOTEMPTY || r == -EEXIST ? 0 : r;
}

int site_remove(struct site *s, struct hb_error *err)
{
	for (int i = 0; i < SITE_DIRS; i++) {
		int r = layout[i].is_numbered ? remove_one(s, i, err) : 0;

		if (r < 0)
			return hb_fail(err, r, "cannot remove '%s/%s'",
				       layout[i].name, s->name);
	}
	return 0;
}

static int cursor_move(struct cursor *c, const char *path, size_t len,
		       struct hb_error *err)
{
	struct hb_error why = { 0 };
	char *copy;
	int fd;

	if (c->path && strncmp(c->path, path, len) == 0 && c->path[len] == '\0')
		return 0;
	cursor_close(c);
	copy = strndup(path, len);
	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	fd = access_open_below(c->root, path, len, O_PATH, &why);
	/* A link or file on the way: there is nothing below it. */
	if (fd < 0 && !access_is_gone(fd)) {
		free(copy);
		return hb_pass(err, &why, fd);
	}
	c->path = copy;
	c->fd = fd < 0 ? -1 : fd;
	return 0;
}

static int find(struct cursor *c, const struct op *op, struct place *ret,
		struct hb_error *err)
{
	const char *slash = strrchr(op->path, '/');
	size_t len = slash ? (size_t)(slash - op->path) : 0;
	int r = cursor_move(c, op->path, len, err);

	if (r < 0)
		return r;
	*ret = (struct place){ .dir = c->fd,
			       .name = slash ? slash + 1 : op->path };
	return 0;
}

int site_base(struct site *s, const struct op *op, struct place *ret,
	      struct hb_error *err)
{
	if (op->effect & OP_UPPER) {
		*ret = (struct place){ .dir = s->resource->dir,
				       .name = "upper" };
		return 0;
	}
	return find(op->kind == OP_LAYER ? &s->upper : &s->base, op, ret, err);
}

int site_upper(struct site *s, const struct op *op, struct place *ret,
	       struct hb_error *err)
{
	return find(&s->upper, op, ret, err);
}

static void slot_in(struct place *p, int dir, const char *prefix, uint64_t slot)
{
	p->dir = dir;
	(void)snprintf(p->slot, sizeof(p->slot), "%s%" PRIu64, prefix, slot);
	p->name = p->slot;
}

int site_source(struct site *s, const struct op *op, struct place *ret,
		struct hb_error *err)
{
	if (op->source == SOURCE_LAYER)
		return site_upper(s, op, ret, err);
	if (op->source == SOURCE_NONE)
		*ret = (struct place){ .dir = -1, .name = "" };
	else if (op->effect & OP_UPPER)
		slot_in(ret, s->dirs[SITE_DIR_TXN], "", op->slot);
	else
		slot_in(ret, s->dirs[SITE_SPOT_TXN], "", op->slot);
	return 0;
}

void site_undo(struct site *s, const struct op *op, struct place *ret)
{
	if (op->effect & OP_UPPER)
		slot_in(ret, s->dirs[SITE_DIR_TRASH], "", s->id);
	else if (op->kind == OP_LAYER)
		slot_in(ret, s->dirs[SITE_DIR_UNDO], "L", op->slot);
	else
		slot_in(ret, s->dirs[SITE_SPOT_UNDO], "", op->slot);
}

unsigned site_rises(const struct site *s, uint64_t nlink)
{
	if (!s->is_overlay)
		return 0;
	return nlink > 1 ? OP_RISES | OP_RISES_APART : OP_RISES;
}

struct object object_of(const struct entry *e)
{
	return (struct object){ .type = e->type,
				.mode = e->mode,
				.uid = e->uid,
				.gid = e->gid,
				.ino = e->ino,
				.size = e->size,
				.mtime = e->mtime,
				.btime = e->btime };
}

struct object object_of_attr(const struct sys_attr *a)
{
	struct entry e = entry_of_attr(a);

	return object_of(&e);
}

int place_read(const struct place *p, struct object *ret, struct hb_error *err)
{
	struct sys_attr a;
	int r;

	*ret = (struct object){ .type = ENTRY_NONE };
	if (p->dir < 0)
		return 0;
	r = sys_attr_at(p->dir, p->name, &a);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return hb_fail_at(err, r, p->name, "cannot look at");
	*ret = object_of_attr(&a);
	return 0;
}

int site_open_dir(const struct cursor *in, const char *path,
		  struct hb_error *err)
{
	if (in->root < 0)
		return -ENOENT;
	return access_open_below(in->root, path, strlen(path), O_PATH, err);
}
