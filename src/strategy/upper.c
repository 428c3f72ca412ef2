/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/upper.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "base/path.h"
#include "changes/resource.h"
#include "strategy/copy_place.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/origin.h"
#include "tree/overlay.h"
#include "tree/standin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LIST_SIZE 4096

static int leave(void *ctx, struct trail_dir *dir, struct hb_error *err)
{
	int r = trail_restore(dir, err);

	(void)ctx;
	return r < 0 ? r : 0;
}

int upper_begin(struct upper *u, const struct resource *resource, int copy,
		struct hb_error *err)
{
	struct trail_dir *top;
	struct entry e;
	int r;

	*u = (struct upper){ .resource = resource, .copy = copy };
	links_begin(&u->links, resource->dir);
	r = place_carry_top(copy, resource->layers[0], true, err);
	if (r >= 0)
		r = trail_begin(&u->trail, resource->layers[0], leave, u, err);
	if (r >= 0)
		r = entry_read_fd(copy, false, &e, err);
	if (r < 0)
		return r;
	top = trail_last(&u->trail);
	/* A root that its owner cannot open would end the session. */
	e.mode |= USER_LIST;
	top->is_touched =
		top->mode != e.mode || !place_is_time(top->mtime, e.mtime);
	top->mode = e.mode;
	top->mtime = e.mtime;
	return 0;
}

int upper_end(struct upper *u, int r, struct hb_error *err)
{
	r = trail_end(&u->trail, r, err);
	links_end(&u->links);
	return r;
}

/*
 * A way down through the copy.  A directory that its owner may not search is
 * open to us until the next one, or the end.
 */
struct descent {
	int fd;
	struct entry entry; /* was_closed: how it was */
	bool was_closed;
};

static int descent_begin(struct descent *d, const struct upper *u,
			 struct hb_error *err)
{
	*d = (struct descent){ .fd = sys_dup_above(u->copy, 3) };
	return d->fd < 0 ? hb_fail(err, d->fd, "cannot open the copy") : 0;
}

static void descent_end(struct descent *d)
{
	if (d->fd < 0)
		return;
	if (d->was_closed)
		(void)access_close_again(d->fd, &d->entry, NULL);
	sys_close(d->fd);
	d->fd = -1;
}

static int descent_step(struct descent *d, const char *name,
			struct hb_error *err)
{
	bool was_closed = false;
	struct entry e;
	int fd, r;

	r = entry_read_base(d->fd, name, &e, err);
	if (r < 0)
		return r;
	fd = access_open_dir(d->fd, name, &e, true, &was_closed, err);
	if (fd < 0)
		return fd;
	descent_end(d);
	*d = (struct descent){ fd, e, was_closed };
	return 0;
}

/* The component of the path that begins at `at`. */
static size_t part_of(const char *path, size_t at, size_t len,
		      char name[NAME_MAX + 1])
{
	const char *slash = memchr(path + at, '/', len - at);
	size_t n = slash ? (size_t)(slash - path) - at : len - at;

	(void)snprintf(name, NAME_MAX + 1, "%.*s", (int)n, path + at);
	return n;
}

static int descent_to(struct descent *d, const struct upper *u,
		      const char *path, struct hb_error *err)
{
	size_t len = strlen(path), n;
	char name[NAME_MAX + 1];
	int r;

	r = descent_begin(d, u, err);
	for (size_t at = 0; r >= 0 && at < len; at += n + 1) {
		n = part_of(path, at, len, name);
		r = descent_step(d, name, err);
	}
	return r;
}

static struct carry carry_of(int dir, const char *name, const struct entry *e)
{
	return (struct carry){
		.from = dir,
		.name = name,
		.entry = e,
		.flags = CARRY_TO_LAYER | CARRY_OWN,
		.mode = e->mode,
		.uid = e->uid,
		.gid = e->gid,
	};
}

/*
 * Links cannot have it, and no reader asks it of directories.  It is knowledge
 * for the search of conflicts and nothing that the kernel needs, so a file
 * system may lack it.
 */
static int mark_origin(int dir, const char *name, const struct entry *e,
		       const char *path, struct hb_error *err)
{
	bool is_closed = !(e->mode & USER_WRITE);
	auto_fd int fd = -1;
	int r;

	if (!entry_opens(e->type))
		return 0;
	fd = sys_openat(dir, name, O_PATH | O_NOFOLLOW, 0);
	r = fd < 0 ? fd : 0;
	if (r >= 0 && is_closed)
		r = sys_chmod_fd(fd, e->mode | USER_WRITE);
	if (r >= 0)
		r = origin_mark(fd, path,
				e->type == ENTRY_FILE && e->nlink > 1);
	if (r == -EOPNOTSUPP)
		r = 0;
	if (r >= 0 && is_closed)
		r = sys_chmod_fd(fd, e->mode);
	return r < 0 ? hb_fail_at(err, r, name, "cannot mark") : 0;
}

/*
 * A directory of the layer with the attributes of the copy's; entered.
 * `is_new`: it lies over nothing, or over something else.
 */
static int make_dir(struct upper *u, int from, const char *from_name,
		    const struct entry *e, const char *name,
		    bool with_attributes, bool is_new, struct hb_error *err)
{
	struct carry carry = carry_of(from, from_name, e);
	int dir = trail_last(&u->trail)->fd;
	struct trail_dir *entered;
	auto_fd int fd = -1;
	struct entry now;
	int r;

	carry.mode |= USER_ALL;
	r = entry_read_layer(dir, name, &now, err);
	if (r < 0)
		return r;
	if (now.type == ENTRY_DIR && with_attributes) {
		fd = sys_openat(dir, name, O_PATH | O_NOFOLLOW, 0);
		r = fd < 0 ? fd : sys_chmod_fd(fd, now.mode | USER_ALL);
		r = r < 0 ? hb_fail_at(err, r, name, "cannot open")
			  : carry_attributes(&carry, fd, err);
		if (r >= 0 && now.has_origin)
			r = mark_origin(dir, name, e, name, err);
	} else if (now.type != ENTRY_DIR) {
		is_new = is_new || now.type != ENTRY_NONE || now.is_whiteout;
		r = place_clear(&u->trail, name, err);
		if (r >= 0)
			r = carry_copy(&carry, dir, name, err);
		if (r >= 0 && !is_new)
			r = mark_origin(dir, name, e, name, err);
	}
	if (r >= 0)
		r = entry_read_layer(dir, name, &now, err);
	if (r >= 0)
		r = trail_enter(&u->trail, name, &now, err);
	if (r < 0)
		return r;
	entered = trail_last(&u->trail);
	entered->mode = e->mode;
	entered->mtime = e->mtime;
	entered->is_touched = true;
	return 0;
}

/* Makes the last directory of the trail the one at the path. */
static int go_to(struct upper *u, const char *path, size_t len,
		 struct hb_error *err)
{
	char name[NAME_MAX + 1];
	struct descent d;
	size_t n;
	int r;

	r = trail_leave_to(&u->trail, path, len, err);
	if (r < 0 || u->trail.path.len >= len)
		return r;
	r = descent_begin(&d, u, err);
	for (size_t at = 0; r >= 0 && at < len; at += n + 1) {
		struct entry e;

		n = part_of(path, at, len, name);
		r = descent_step(&d, name, err);
		if (r < 0 || at + n <= u->trail.path.len)
			continue;
		e = d.entry;
		r = make_dir(u, d.fd, ".", &e, name, false, false, err);
	}
	descent_end(&d);
	return r;
}

/* 1: it came from below, 0: it is new since the base was looked at. */
static int is_from_below(struct upper *u, const struct upper_source *source,
			 struct hb_error *err)
{
	struct entry now;
	int r;

	if (!source->was_there)
		return 0;
	r = entry_read_layer(trail_last(&u->trail)->fd, source->name, &now,
			     err);
	if (r < 0)
		return r;
	if (now.type == ENTRY_NONE)
		return !now.is_whiteout;
	return now.has_origin && origin_is_of(trail_last(&u->trail)->fd,
					      source->name, &now, source->path);
}

static int mark_stand_in(int dir, const char *name,
			 const struct upper_source *source,
			 struct hb_error *err)
{
	auto_fd int fd = sys_openat(dir, name, O_PATH | O_NOFOLLOW, 0);
	struct entry made = *source->entry;
	int r;

	/* The trail is in it, and gives it its own mode at the end. */
	if (made.type == ENTRY_DIR)
		made.mode |= USER_ALL;
	r = fd < 0 ? fd
		   : standin_mark(fd, &made, source->stands_for,
				  source->is_touched);

	if (r < 0)
		hb_fix(err, "holdback rollback or cleanup; the real file is "
			    "as it was");
	return r < 0 ? hb_fail_at(err, r, source->path,
				  "cannot keep the unreadable file at")
		     : 0;
}

int upper_put_file(struct upper *u, const struct upper_source *source,
		   struct entry *ret_made, struct hb_error *err)
{
	struct carry carry = carry_of(source->dir, source->name, source->entry);
	bool has_links =
		source->entry->nlink > 1 && source->entry->type != ENTRY_DIR;
	int dir, has_origin, r;

	r = go_to(u, source->path, place_parent(source->path, source->name),
		  err);
	has_origin = r < 0 ? r : is_from_below(u, source, err);
	if (has_origin < 0)
		return has_origin;
	r = place_clear(&u->trail, source->name, err);
	if (r < 0)
		return r;
	dir = trail_last(&u->trail)->fd;
	if (!has_links || links_reuse(&u->links, 0, source->entry->ino, dir,
				      source->name) < 0) {
		r = carry_copy(&carry, dir, source->name, err);
		if (r >= 0 && has_links)
			(void)links_keep(&u->links, 0, source->entry->ino, dir,
					 source->name);
	}
	if (r >= 0 && has_origin)
		r = mark_origin(dir, source->name, source->entry, source->path,
				err);
	if (r >= 0 && source->stands_for)
		r = mark_stand_in(dir, source->name, source, err);
	if (r >= 0)
		r = entry_read_layer(dir, source->name, ret_made, err);
	return r;
}

/* Both forms mean the same; not every file system has the first. */
static int make_whiteout(int dir, const char *name, struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	r = sys_make_whiteout(dir, name);
	if (r == 0)
		return 0;
	if (r == -ENOSPC || r == -EDQUOT || r == -EIO)
		return hb_fail_at(err, r, name, "cannot note the deletion of");
	fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
			0600);
	r = fd < 0 ? fd : sys_set_xattr(fd, OVERLAY_PREFIX "whiteout", "y", 1);
	return r < 0 ? hb_fail_at(err, r, name, "cannot note the deletion of")
		     : 0;
}

/* What lies below the layer, the base last. */
static size_t n_lower(const struct upper *u)
{
	return u->resource->n_layers;
}

static int lower_at(const struct upper *u, size_t i)
{
	return i + 1 < u->resource->n_layers ? u->resource->layers[i + 1]
					     : u->resource->base;
}

/* Whether something may shine through at the name. */
static bool is_below(const struct upper *u, const char *path, const char *name)
{
	for (size_t i = 0; i < n_lower(u); i++) {
		struct sys_attr a;
		auto_fd int dir = access_open_below(lower_at(u, i), path,
						    place_parent(path, name),
						    O_PATH, NULL);

		if (access_is_gone(dir))
			continue;
		if (dir < 0 || sys_attr_at(dir, name, &a) != -ENOENT)
			return true;
	}
	return false;
}

int upper_remove(struct upper *u, const char *path, const char *name,
		 struct hb_error *err)
{
	int r;

	r = go_to(u, path, place_parent(path, name), err);
	if (r >= 0)
		r = place_clear(&u->trail, name, err);
	if (r < 0 || !is_below(u, path, name))
		return r;
	return make_whiteout(trail_last(&u->trail)->fd, name, err);
}

/* Hides those names of a directory below that the copy does not have. */
static int hide_names(struct upper *u, int lower, int copy,
		      struct hb_error *err)
{
	_Alignas(struct k_dirent) char block[LIST_SIZE];
	int dir = trail_last(&u->trail)->fd;
	ssize_t n;

	while ((n = sys_getdents(lower, block, sizeof(block))) > 0) {
		const struct k_dirent *d;

		for (ssize_t at = 0; at < n; at += d->reclen) {
			struct sys_attr a;
			int r;

			d = (const void *)(block + at);
			if (path_is_dots(d->name) ||
			    sys_attr_at(copy, d->name, &a) != -ENOENT ||
			    sys_attr_at(dir, d->name, &a) != -ENOENT)
				continue;
			r = make_whiteout(dir, d->name, err);
			if (r < 0)
				return r;
		}
	}
	return n < 0 ? hb_fail(err, (int)n, "cannot read a directory") : 0;
}

static int hide_lower(struct upper *u, const struct upper_source *source,
		      struct hb_error *err)
{
	struct descent copy = { .fd = -1 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n_lower(u); i++) {
		auto_fd int dir =
			access_open_below(lower_at(u, i), source->path,
					  strlen(source->path), O_RDONLY, NULL);

		if (access_is_gone(dir))
			continue;
		/* What cannot be listed is hidden as a whole. */
		if (dir < 0) {
			r = sys_set_xattr(trail_last(&u->trail)->fd,
					  OVERLAY_PREFIX "opaque", "y", 1);
			if (r < 0)
				r = hb_fail_at(err, r, source->path,
					       "cannot replace");
			break;
		}
		if (copy.fd < 0)
			r = descent_to(&copy, u, source->path, err);
		if (r >= 0)
			r = hide_names(u, dir, copy.fd, err);
	}
	descent_end(&copy);
	return r;
}

int upper_put_dir(struct upper *u, const struct upper_source *source,
		  bool is_new, struct hb_error *err)
{
	int r;

	r = go_to(u, source->path, place_parent(source->path, source->name),
		  err);
	if (r >= 0)
		r = trail_touch(&u->trail, err);
	if (r >= 0)
		r = make_dir(u, source->dir, source->name, source->entry,
			     source->name, true, is_new, err);
	if (r >= 0 && source->stands_for)
		r = mark_stand_in(trail_last(&u->trail)->fd, ".", source, err);
	if (r >= 0 && is_new)
		r = hide_lower(u, source, err);
	return r;
}
