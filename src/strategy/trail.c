/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/trail.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/mode.h"
#include "base/path.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MAX_DIRS 64
#define DEPTH_MAX     ((size_t)65536)

struct trail_dir *trail_last(struct trail *t)
{
	return &t->dirs[t->n - 1];
}

static int add(struct trail *t, int fd, const struct entry *e,
	       struct hb_error *err)
{
	if (t->n >= 2 * DEPTH_MAX || grow(t->dirs, t->n) < 0)
		return hb_fail(err, -ENOMEM, "the tree is too deep");
	t->dirs[t->n++] = (struct trail_dir){
		.fd = fd,
		.dev = e->dev,
		.ino = e->ino,
		.path_len = t->path.len,
		.mode = e->mode,
		.mtime = e->mtime,
		.is_open = (e->mode & USER_ALL) == USER_ALL,
	};
	return 0;
}

int trail_begin(struct trail *t, int top,
		int (*leave)(void *ctx, struct trail_dir *dir,
			     struct hb_error *err),
		void *ctx, struct hb_error *err)
{
	auto_fd int fd = -1;
	struct entry e;
	int r;

	*t = (struct trail){ .leave = leave, .ctx = ctx };
	buf_init(&t->path, PATH_TREE_MAX);
	fd = access_open_below(top, "", 0, O_RDONLY, err);
	if (fd < 0)
		return fd;
	r = entry_read_fd(fd, false, &e, err);
	if (r >= 0)
		r = add(t, fd, &e, err);
	if (r < 0)
		return r;
	(void)take_fd(&fd);
	return 0;
}

/* Opens the one above the last again, through that. */
static int reopen(struct trail *t, struct hb_error *err)
{
	struct trail_dir *up = &t->dirs[t->n - 2];
	auto_fd int fd = -1;
	struct sys_attr a;
	int r;

	if (up->fd >= 0)
		return 0;
	fd = sys_openat(trail_last(t)->fd, "..", O_RDONLY | O_DIRECTORY, 0);
	r = fd < 0 ? fd : sys_attr_at(fd, "", &a);
	if (r < 0)
		return hb_fail_at(err, r, "..", "cannot open");
	if (a.ino != up->ino || a.dev != up->dev)
		return hb_fail(err, -HB_E_BUSY,
			       "a directory of the store was moved");
	up->fd = take_fd(&fd);
	t->lowest = t->n - 2;
	return 0;
}

static int leave_last(struct trail *t, int r, struct hb_error *err)
{
	struct trail_dir *dir = trail_last(t);

	if (r == 0 && t->n > 1)
		r = reopen(t, err);
	if (r == 0)
		r = t->leave(t->ctx, dir, err);
	if (dir->fd >= 0)
		sys_close(dir->fd);
	t->n--;
	if (t->n > 0)
		buf_cut(&t->path, trail_last(t)->path_len);
	return r;
}

int trail_end(struct trail *t, int r, struct hb_error *err)
{
	while (t->n > 0)
		r = leave_last(t, r < 0 ? r : 0, err);
	free(t->dirs);
	t->dirs = NULL;
	buf_done(&t->path);
	return r;
}

/* Whether the last directory is at or above the path. */
static bool is_above(const struct trail *t, const char *path, size_t len)
{
	size_t n = t->path.len;

	return n == 0 || (n <= len && memcmp(t->path.data, path, n) == 0 &&
			  (n == len || path[n] == '/'));
}

int trail_leave_to(struct trail *t, const char *path, size_t len,
		   struct hb_error *err)
{
	int r = 0;

	while (r >= 0 && !is_above(t, path, len))
		r = leave_last(t, 0, err);
	return r;
}

int trail_enter(struct trail *t, const char *name, const struct entry *entry,
		struct hb_error *err)
{
	auto_fd int fd = -1;
	bool was_closed = false;
	int r;

	fd = access_open_dir(trail_last(t)->fd, name, entry, true, &was_closed,
			     err);
	if (fd < 0)
		return fd;
	if (t->path.len > 0)
		(void)buf_add_char(&t->path, '/');
	r = buf_add_str(&t->path, name);
	if (r >= 0)
		r = t->n == DEPTH_MAX ? -E2BIG : add(t, fd, entry, err);
	if (r < 0)
		return hb_fail(err, r, "directories are nested too deep");
	(void)take_fd(&fd);
	trail_last(t)->is_touched = was_closed;
	while (t->n - t->lowest > OPEN_MAX_DIRS) {
		struct trail_dir *low = &t->dirs[t->lowest++];

		if (low->fd >= 0)
			sys_close(low->fd);
		low->fd = -1;
	}
	return 0;
}

int trail_touch(struct trail *t, struct hb_error *err)
{
	struct trail_dir *dir = trail_last(t);
	int r = 0;

	if (!dir->is_open)
		r = sys_chmod_fd(dir->fd, dir->mode | USER_ALL);
	if (r < 0)
		return hb_fail_at(err, r, buf_str(&t->path), "cannot write to");
	dir->is_open = true;
	dir->is_touched = true;
	return 0;
}

int trail_restore(struct trail_dir *dir, struct hb_error *err)
{
	int r;

	if (!dir->is_touched)
		return 0;
	r = sys_set_mtime_at(dir->fd, "", dir->mtime);
	if (r >= 0)
		r = sys_chmod_fd(dir->fd, dir->mode);
	return r < 0 ? hb_fail(err, r,
			       "cannot set the attributes of a "
			       "directory of the store")
		     : 1;
}
