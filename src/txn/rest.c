/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/rest.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/mode.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/content.h"
#include "tree/linked.h"
#include "tree/overlay.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The stream says everything that differs from the base, an opaque directory's
 * deletions one by one.  So no directory of the rest is opaque.  Each change
 * that stays is an object or a whiteout at its path, below plain directories.
 *
 * A directory that goes or makes way for something else, in part, has stayed in
 * the base as ops.c says.  It is hidden as a whole.
 */

#define LEVELS_MAX ((size_t)1 << 20)

/* A directory of the rest that is being filled. */
struct level {
	size_t len; /* of its path */
	mode_t mode;
	struct timespec mtime;
};

struct rest {
	const struct rest_request *q;
	struct buf path; /* of the change before; the levels are parts of it */
	struct buf skip; /* everything below is hidden; empty: none */
	struct level *levels;
	size_t depth;
	uint64_t number; /* of the next whole directory */
	struct linked linked;
};

static int fail_at(const char *path, int r, struct hb_error *err)
{
	return hb_fail_at(err, r, path,
			  "cannot keep the changes that are left out:");
}

static bool is_below(const char *path, const char *dir, size_t len)
{
	return strncmp(path, dir, len) == 0 && path[len] == '/';
}

/* The directory is whole: it gets its mode and time. */
static int leave_one(struct rest *t, struct hb_error *err)
{
	const struct level *level = &t->levels[--t->depth];
	const char *path = buf_str(&t->path);
	auto_fd int fd = -1;
	int r;

	fd = access_open_below(t->q->resource->rest, path, level->len, O_RDONLY,
			       err);
	if (fd < 0)
		return fd;
	syncer_add(t->q->syncer, fd, ".", false);
	r = sys_set_mtime_at(fd, "", level->mtime);
	if (r == 0)
		r = sys_fchmod(fd, level->mode);
	return r < 0 ? fail_at(path, r, err) : 0;
}

static int leave(struct rest *t, const char *path, struct hb_error *err)
{
	int r = 0;

	while (r == 0 && t->depth > 0 &&
	       !is_below(path, buf_str(&t->path), t->levels[t->depth - 1].len))
		r = leave_one(t, err);
	return r;
}

/* The newest object at the path that some layer has, and where. */
static int find_layer(const struct rest *t, const char *path, size_t len,
		      size_t *ret_layer)
{
	const struct resource *res = t->q->resource;

	for (size_t i = 0; i < res->n_layers; i++) {
		auto_fd int fd = access_open_below(res->layers[i], path, len,
						   O_PATH, NULL);

		if (fd < 0)
			continue;
		*ret_layer = i;
		return 0;
	}
	return -ENOENT;
}

/* The directory of the rest that a path of this length lies in. */
static int open_parent(const struct rest *t, const char *path, size_t len,
		       size_t *ret_name, struct hb_error *err)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	*ret_name = len;
	return access_open_below(t->q->resource->rest, path,
				 len > 0 ? len - 1 : 0, O_RDONLY, err);
}

static int copy_object(struct rest *t, int from, const char *name, int to,
		       const struct change *c, struct entry *ret_entry,
		       struct hb_error *err)
{
	struct carry carry = { .from = from,
			       .name = name,
			       .entry = ret_entry,
			       .flags = CARRY_CAPABILITIES };
	int r;

	r = entry_read_layer(from, name, ret_entry, err);
	if (r < 0)
		return r;
	carry.mode = ret_entry->mode;
	carry.uid = ret_entry->uid;
	carry.gid = ret_entry->gid;
	return c && c->link_group != 0 && ret_entry->type != ENTRY_DIR
		       ? linked_copy(&t->linked, &carry, c->link_group, to,
				     name, err)
		       : carry_copy(&carry, to, name, err);
}

/* A copy from a layer to the rest, which is a layer as well: marks and all. */
static int copy(struct rest *t, size_t layer, const char *path, size_t len,
		const struct change *c, struct entry *ret_entry,
		struct hb_error *err)
{
	const struct resource *res = t->q->resource;
	auto_free char *whole = strndup(path, len);
	const struct content_place source = { .root = res->layers[layer],
					      .in_layer = true,
					      .path = whole };
	struct content_dir from = { .fd = -1 };
	auto_fd int to = -1;
	const char *name;
	size_t at;
	int left, r;

	if (!whole)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	r = content_enter(&source, &from, &name, err);
	to = r < 0 ? r : open_parent(t, path, len, &at, err);
	r = to < 0 ? to : copy_object(t, from.fd, name, to, c, ret_entry, err);
	left = content_leave(&from, r < 0 ? NULL : err);
	if (r < 0 || left < 0)
		return fail_at(path, r < 0 ? r : left, err);
	if (ret_entry->type == ENTRY_FILE)
		syncer_add(t->q->syncer, to, name, true);
	if (ret_entry->type == ENTRY_DIR) {
		auto_fd int fd = sys_openat(to, name, O_PATH | O_NOFOLLOW, 0);

		r = fd < 0 ? fd : sys_chmod_fd(fd, ret_entry->mode | USER_ALL);
		if (r == 0)
			r = sys_remove_xattr(fd, OVERLAY_PREFIX "opaque");
		if (r == -ENODATA || r == -EOPNOTSUPP)
			r = 0;
	}
	return r < 0 ? fail_at(path, r, err) : 0;
}

static int make_dir(struct rest *t, const char *path, size_t len, size_t layer,
		    struct hb_error *err)
{
	struct entry entry;
	int r;

	if (t->depth >= LEVELS_MAX || grow(t->levels, t->depth) < 0)
		return hb_fail(err, -ENOMEM, "the tree is too deep");
	r = copy(t, layer, path, len, NULL, &entry, err);
	if (r < 0)
		return r;
	t->levels[t->depth++] = (struct level){ .len = len,
						.mode = entry.mode,
						.mtime = entry.mtime };
	return 0;
}

/* Every directory above the path that is not there yet. */
static int make_parents(struct rest *t, const char *path, struct hb_error *err)
{
	size_t done = t->depth > 0 ? t->levels[t->depth - 1].len : 0;
	size_t layer = 0;
	int r;

	for (size_t len = done + 1; path[len]; len++) {
		if (path[len] != '/')
			continue;
		r = find_layer(t, path, len, &layer);
		if (r < 0)
			return fail_at(path, r, err);
		r = make_dir(t, path, len, layer, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int hide(struct rest *t, const char *path, struct hb_error *err)
{
	auto_fd int dir = -1;
	size_t at;
	int r;

	dir = open_parent(t, path, strlen(path), &at, err);
	if (dir < 0)
		return dir;
	r = sys_make_whiteout(dir, path + at);
	return r < 0 ? fail_at(path, r, err) : 0;
}

static int write_one(struct rest *t, const struct change *c,
		     struct hb_error *err)
{
	struct entry entry;
	int r;

	r = leave(t, c->path, err);
	if (r == 0) {
		buf_cut(&t->path, 0);
		r = buf_add_str(&t->path, c->path);
	}
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	r = make_parents(t, c->path, err);
	if (r < 0)
		return r;
	if (c->new.type == ENTRY_DIR)
		return make_dir(t, c->path, strlen(c->path), c->layer, err);
	r = c->new.type == ENTRY_NONE ? hide(t, c->path, err)
				      : copy(t, c->layer, c->path,
					     strlen(c->path), c, &entry, err);
	if (r < 0 || c->old.type != ENTRY_DIR)
		return r;
	buf_cut(&t->skip, 0);
	r = buf_add_str(&t->skip, c->path);
	return r < 0 ? hb_fail(err, r, "cannot keep a path") : 0;
}

static int see(struct rest *t, const struct change *c, struct hb_error *err)
{
	bool stays = !changes_choice_takes(&t->q->options->choice, c);
	bool is_partial = survey_is_whole_dir(c) &&
			  survey_is_partial(t->q->survey, t->number++);

	if (c->old.type == ENTRY_DIR && c->new.type != ENTRY_DIR &&is_partial)
		stays = true;
	/* The attributes of the top are those of the upper, which stays. */
	if (!stays || (c->flags & CHANGE_CARRIED) || change_is_top(c))
		return 0;
	if (t->skip.len > 0 &&
	    is_below(c->path, buf_str(&t->skip), t->skip.len))
		return 0;
	buf_cut(&t->skip, 0);
	return write_one(t, c, err);
}

int rest_write(const struct rest_request *request, struct hb_error *err)
{
	struct rest t = { .q = request,
			  .path = BUF_INIT(TREE_PATH_MAX),
			  .skip = BUF_INIT(TREE_PATH_MAX),
			  .linked = { request->scratch, 'h', false } };
	struct sys_attr top;
	struct change c;
	int r;

	r = sys_attr_at(request->resource->rest, "", &top);
	if (r < 0)
		return hb_fail(err, r,
			       "cannot keep the changes that are left out");
	r = changes_rewind(request->changes, err);
	while (r >= 0 && (r = changes_next(request->changes, &c, err)) == 1)
		r = see(&t, &c, err);
	while (r == 0 && t.depth > 0)
		r = leave_one(&t, err);
	if (r == 0)
		r = linked_end(&t.linked, err);
	if (r == 0) {
		syncer_add(request->syncer, request->resource->rest, ".",
			   false);
		r = sys_set_mtime_at(request->resource->rest, "", top.mtime);
		if (r < 0)
			(void)hb_fail(
				err, r,
				"cannot keep the changes that are left out");
	}
	free(t.levels);
	buf_done(&t.path);
	buf_done(&t.skip);
	return r;
}
