/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/site.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/content.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

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

static int open_or_make(int at, const char *name, bool make)
{
	int fd, r;

	fd = sys_openat(at, name, DIR_FLAGS, 0);
	if (fd != -ENOENT || !make)
		return fd;
	r = sys_mkdirat(at, name, 0700);
	if (r < 0 && r != -EEXIST)
		return r;
	return sys_openat(at, name, DIR_FLAGS, 0);
}

static int open_one(struct site *s, enum site_dir which, bool make,
		    struct hb_error *err)
{
	auto_fd int top =
		open_or_make(parent_of(s, which), layout[which].name, make);
	int fd, r;

	if (top == -ENOENT)
		return 0;
	if (top < 0)
		return hb_fail(err, top, "cannot open '%s' of the session",
			       layout[which].name);
	if (!layout[which].is_numbered) {
		s->dirs[which] = take_fd(&top);
		return 0;
	}
	fd = open_or_make(top, s->name, make);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s/%s' of the session",
			       layout[which].name, s->name);
	s->dirs[which] = fd;
	if (!make || (s->is_one && !layout[which].is_in_spot))
		return 0;
	/* The way to what the journal speaks of, before the journal. */
	r = sys_fsync(top);
	return r < 0 ? hb_fail(err, r, "cannot sync '%s' of the session",
			       layout[which].name)
		     : 0;
}

static bool is_one_dir(int a, int b)
{
	struct sys_attr x, y;

	return sys_attr_at(a, "", &x) == 0 && sys_attr_at(b, "", &y) == 0 &&
	       x.dev == y.dev && x.ino == y.ino;
}

int site_sync(const struct site *s)
{
	for (int i = 0; i < SITE_DIRS; i++) {
		bool is_synced = s->is_one && layout[i].is_numbered &&
				 !layout[i].is_in_spot;
		int r;

		if (s->dirs[i] < 0 || is_synced)
			continue;
		r = sys_fsync(s->dirs[i]);
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
	s->is_one = is_one_dir(resource->spot, resource->dir);
	s->has_labels =
		sys_get_xattr(resource->base, "security.selinux", NULL, 0) > 0;
	s->is_overlay =
		sys_space(resource->base, &space) == 0 && space.is_overlay;
	for (int i = 0; i < SITE_DIRS; i++) {
		int r = open_one(s, (enum site_dir)i, false, err);

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

	for (int i = 0; i < SITE_DIRS; i++)
		if (s->dirs[i] < 0) {
			r = open_one(s, (enum site_dir)i, true, err);
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
	auto_fd int top = sys_openat(parent_of(s, which), layout[which].name,
				     DIR_FLAGS, 0);
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

	if (c->path && c->len == len && memcmp(c->path, path, len) == 0)
		return 0;
	cursor_close(c);
	copy = malloc(len + 1);
	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	memcpy(copy, path, len);
	copy[len] = '\0';
	fd = access_open_below(c->root, path, len, O_PATH, &why);
	/* A link or file on the way: there is nothing below it. */
	if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP) {
		free(copy);
		if (err)
			*err = why;
		return fd;
	}
	c->path = copy;
	c->len = len;
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
	return find(&s->base, op, ret, err);
}

int site_upper(struct site *s, const struct op *op, struct place *ret,
	       struct hb_error *err)
{
	return find(&s->upper, op, ret, err);
}

int site_read_upper(struct site *s, const struct op *op, struct object *ret,
		    struct hb_error *err)
{
	const struct content_place at = {
		.root = s->resource->layers[0],
		.in_layer = true,
		.path = op->path,
	};
	struct content_dir dir = { .fd = -1 };
	struct hb_error why = { 0 };
	struct place place;
	int left, r;

	r = site_upper(s, op, &place, &why);
	if (r >= 0)
		r = place_read(&place, ret, &why);
	if (r != -EACCES) {
		if (r < 0 && err)
			*err = why;
		return r;
	}
	r = content_enter(&at, &dir, &place.name, err);
	place.dir = dir.fd;
	if (r >= 0)
		r = place_read(&place, ret, err);
	left = content_leave(&dir, r < 0 ? NULL : err);
	return r < 0 ? r : left;
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
	else
		slot_in(ret, s->dirs[SITE_SPOT_UNDO], "", op->slot);
}

void site_layer_undo(struct site *s, const struct op *op, struct place *ret)
{
	slot_in(ret, s->dirs[SITE_DIR_UNDO], "L", op->slot);
}

unsigned site_rises(const struct site *s, uint64_t nlink)
{
	if (!s->is_overlay)
		return 0;
	return nlink > 1 ? OP_RISES | OP_RISES_APART : OP_RISES;
}

struct object object_of_attr(const struct sys_attr *a)
{
	struct object o = {
		.type = entry_type_of(a->mode),
		.mode = a->mode & 07777,
		.uid = a->uid,
		.gid = a->gid,
		.ino = a->ino,
		.size = a->size,
		.mtime = a->mtime,
		.btime = a->btime,
	};

	return o;
}

struct object object_of(const struct entry *e)
{
	return (struct object){
		.type = e->type,
		.mode = e->mode,
		.uid = e->uid,
		.gid = e->gid,
		.ino = e->ino,
		.size = e->size,
		.mtime = e->mtime,
		.btime = e->btime,
	};
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

int site_open_base_dir(struct site *s, const char *path, struct hb_error *err)
{
	return access_open_below(s->resource->base, path, strlen(path), O_PATH,
				 err);
}

int site_open_upper_dir(struct site *s, const char *path, struct hb_error *err)
{
	if (s->upper.root < 0)
		return -ENOENT;
	return access_open_below(s->upper.root, path, strlen(path), O_PATH,
				 err);
}

enum git_place site_git_root(const struct site *site)
{
	return site->resource->is_git ? GIT_TOP : GIT_OUTSIDE;
}
