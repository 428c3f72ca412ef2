/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/content.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

/*
 * Directories that the agent has closed to their owner are opened as the walk
 * does it, one after the other.  Each gets its mode back as soon as its entry
 * is open.
 */
int content_leave(struct content_dir *d, struct hb_error *err)
{
	int r = 0;

	if (d->was_closed)
		r = access_close_again(d->fd, &d->entry, err);
	fd_closep(&d->fd);
	d->was_closed = false;
	return r;
}

/* Goes from one directory of a layer to one in it. */
static int enter(struct content_dir *d, const char *name, struct hb_error *err)
{
	struct content_dir below = { .fd = -1 };
	int r;

	r = entry_read_layer(d->fd, name, &below.entry, err);
	if (r < 0)
		return r;
	if (below.entry.type != ENTRY_DIR)
		return hb_fail(err, -HB_E_BUSY,
			       "a directory was moved while it was read");
	below.fd = access_open_dir(d->fd, name, &below.entry, true,
				   &below.was_closed, err);
	if (below.fd < 0)
		return below.fd;
	r = content_leave(d, err);
	*d = below;
	return r;
}

static int descend(int root, const char *path, size_t len,
		   struct content_dir *d, struct hb_error *err)
{
	char name[NAME_MAX + 1];
	const char *end = path + len;

	d->fd = access_open_below(root, "", 0, O_PATH, err);
	if (d->fd < 0)
		return d->fd;
	while (path < end) {
		size_t n = strcspn(path, "/");
		int r;

		if (n > NAME_MAX)
			return hb_fail(err, -ENAMETOOLONG, "cannot descend");
		memcpy(name, path, n);
		name[n] = '\0';
		r = enter(d, name, err);
		if (r < 0)
			return r;
		path += n + (path[n] == '/');
	}
	return 0;
}

int content_enter(const struct content_place *place, struct content_dir *d,
		  const char **ret_name, struct hb_error *err)
{
	const char *slash = strrchr(place->path, '/');
	size_t len = slash ? (size_t)(slash - place->path) : 0;
	struct hb_error why = { 0 };
	struct sys_attr a;
	int r;

	*ret_name = slash ? slash + 1 : place->path;
	d->fd = access_open_below(place->root, place->path, len, O_PATH, &why);
	r = d->fd;
	/* Opening needs no right to search it; what is in it does. */
	if (r >= 0 && place->in_layer)
		r = sys_attr_at(d->fd, *ret_name, &a);
	if (r == -EACCES && place->in_layer) {
		fd_closep(&d->fd);
		return descend(place->root, place->path, len, d, err);
	}
	if (d->fd < 0 && err)
		*err = why;
	return d->fd < 0 ? d->fd : 0;
}

int content_find_dir(int root, const char *path, size_t len,
		     struct hb_error *err)
{
	struct content_dir d = { .fd = -1 };
	auto_free char *whole = NULL;
	struct content_place place = { .root = root, .in_layer = true };
	struct hb_error why = { 0 };
	const char *name;
	int fd, r;

	fd = access_open_below(root, path, len, O_PATH, &why);
	if (fd != -EACCES) {
		return hb_pass(err, &why, fd);
	}
	whole = strndup(path, len);
	if (!whole)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	place.path = whole;
	r = content_enter(&place, &d, &name, err);
	fd = r < 0 ? r
		   : access_open_below(d.fd, name, strlen(name), O_PATH, err);
	r = content_leave(&d, fd < 0 ? NULL : err);
	if (r < 0 && fd >= 0) {
		sys_close(fd);
		return r;
	}
	return fd;
}

void content_walk_init(struct content_walk *walk)
{
	*walk = (struct content_walk){ .dir = { .fd = -1 },
				       .path = BUF_INIT(TREE_PATH_MAX) };
}

int content_walk_leave(struct content_walk *walk, struct hb_error *err)
{
	return content_leave(&walk->dir, err);
}

void content_walk_done(struct content_walk *walk)
{
	(void)content_walk_leave(walk, NULL);
	buf_done(&walk->path);
}

int content_walk_enter(struct content_walk *walk,
		       const struct content_place *place, const char **ret_name,
		       struct hb_error *err)
{
	const char *slash = strrchr(place->path, '/');
	size_t len = slash ? (size_t)(slash + 1 - place->path) : 0;
	int r;

	*ret_name = place->path + len;
	if (walk->dir.fd >= 0 && walk->root == place->root &&
	    walk->path.len == len &&
	    memcmp(buf_str(&walk->path), place->path, len) == 0)
		return 0;
	r = content_walk_leave(walk, err);
	if (r >= 0)
		r = content_enter(place, &walk->dir, ret_name, err);
	if (r < 0)
		return r;
	walk->root = place->root;
	buf_cut(&walk->path, 0);
	r = buf_add(&walk->path, place->path, len);
	return r < 0 ? hb_fail(err, r, "cannot keep a path") : 0;
}

static int fail_for(const struct content_place *place, int r,
		    struct hb_error *err)
{
	return hb_fail_at(err, r, place->path, "cannot read");
}

int content_open(const struct content_place *place, struct hb_error *err)
{
	struct content_dir dir = { .fd = -1 };
	auto_fd int fd = -1;
	const char *name;
	int r, left;

	if (place->entry->type != ENTRY_FILE)
		return fail_for(place, -EINVAL, err);
	r = content_enter(place, &dir, &name, err);
	if (r >= 0) {
		fd = access_open_file(dir.fd, name, place->entry,
				      place->in_layer, err);
		r = fd;
	}
	left = content_leave(&dir, r < 0 ? NULL : err);
	if (r < 0 || left < 0)
		return fail_for(place, r < 0 ? r : left, err);
	return take_fd(&fd);
}

int content_walk_open(struct content_walk *walk,
		      const struct content_place *place, struct hb_error *err)
{
	const char *name;
	int r;

	if (place->entry->type != ENTRY_FILE)
		return fail_for(place, -EINVAL, err);
	r = content_walk_enter(walk, place, &name, err);
	if (r >= 0)
		r = access_open_file(walk->dir.fd, name, place->entry,
				     place->in_layer, err);
	return r < 0 ? fail_for(place, r, err) : r;
}

ssize_t content_target(const struct content_place *place, char *buf,
		       size_t size, struct hb_error *err)
{
	struct content_dir dir = { .fd = -1 };
	const char *name;
	ssize_t n;
	int r;

	if (place->entry->type != ENTRY_LINK)
		return fail_for(place, -EINVAL, err);
	r = content_enter(place, &dir, &name, err);
	n = r < 0 ? r
		  : access_read_target(dir.fd, name, place->entry, buf, size,
				       err);
	r = content_leave(&dir, n < 0 ? NULL : err);
	if (n < 0 || r < 0)
		return fail_for(place, n < 0 ? (int)n : r, err);
	return n;
}
