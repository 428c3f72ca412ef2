/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/moved.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/move_record.h"
#include "changes/resource.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/*
 * In the layer a file and its twin are one inode.  So it is known exactly what
 * the twin has, and the rest of the source can go there.
 *
 *	(a) Before the swap the source was not touched: the twin goes.
 *	(b) After it, what the twin does not have goes to the twin, then the
 *	    source goes, then its whiteout comes.  Killed in between, the next
 *	    call finds less to do.
 *	(c) What cannot be moved stays at the source, and the source stays.  So
 *	    does a file whose name the twin has for another file: either may be
 *	    the later one.
 *
 * tests/unit/t_twin.c
 */

#define BELOW (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS)

static int open_below(int dir, const char *path)
{
	return sys_openat2(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
			   BELOW);
}

/* The directory that a path of the record lies in, and the name there. */
static int open_parent(int upper, const char *path, const char **ret_name)
{
	char parent[PATH_MAX];

	*ret_name = moving_split(path, parent);
	return open_below(upper, parent);
}

struct merge {
	int target;
	bool has_rest; /* something could not be moved */
};

static bool is_whiteout(const struct sys_attr *attr)
{
	return S_ISCHR(attr->mode) && attr->rdev_major == 0 &&
	       attr->rdev_minor == 0;
}

/* Brings what the twin does not have to it. */
static int merge_one(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	struct merge *m = ctx;
	const char *name;
	auto_fd int dir = -1;
	struct sys_attr twin;
	int r;

	(void)err;
	if (visit->when != TREE_ENTER || is_whiteout(&visit->attr))
		return 0;
	dir = open_parent(m->target, visit->path, &name);
	r = dir < 0 ? dir : sys_attr_at(dir, name, &twin);
	if (r >= 0 && S_ISDIR(visit->attr.mode) && S_ISDIR(twin.mode))
		return 0;
	if (r >= 0 && twin.ino == visit->attr.ino &&
	    twin.dev == visit->attr.dev)
		return 0;
	if (r >= 0)
		r = -EEXIST;
	else if (dir >= 0 && r == -ENOENT)
		r = sys_renameat(visit->dir, visit->name, dir, name);
	if (r < 0)
		m->has_rest = true;
	return S_ISDIR(visit->attr.mode) ? TREE_SKIP : 0;
}

/* (b) */
static int finish(int upper, const struct moving *moving, struct hb_error *err)
{
	auto_fd int dir = -1;
	auto_fd int target = open_below(upper, moving->target);
	struct merge m = { .target = target };
	struct sys_attr attr;
	const char *name;
	int r;

	dir = open_parent(upper, moving->source, &name);
	/* The box has removed the one or the other since. */
	if (dir < 0 || target < 0)
		return 0;
	r = sys_attr_at(dir, name, &attr);
	if (r >= 0 && !S_ISDIR(attr.mode))
		return 0;
	if (r >= 0) {
		r = tree_walk(dir, name, TREE_OURS, merge_one, &m, err);
		if (r < 0 || m.has_rest)
			return r;
		r = tree_remove(dir, name, err);
	} else if (r == -ENOENT) {
		r = 0;
	}
	if (r >= 0)
		r = sys_make_whiteout(dir, name);
	return r == -EEXIST ? 0 : r;
}

static int settle(int upper, int record, const struct moving *moving,
		  struct hb_error *err)
{
	const uint32_t links = MOVING_LINKS;
	auto_fd int dir = -1;
	struct sys_attr attr;
	const char *name;
	int r;

	dir = open_parent(upper, moving->target, &name);
	if (dir < 0 || moving->step == MOVING_DONE)
		return 0;
	if (moving->step == MOVING_SWAP &&
	    sys_attr_at(dir, moving->hidden, &attr) == -ENOENT)
		return finish(upper, moving, err);
	/* A hidden directory that is gone would mean that it is the target. */
	r = sys_pwrite_all(record, &links, sizeof(links),
			   offsetof(struct moving, step));
	if (r >= 0)
		r = sys_fsync(record);
	return r < 0 ? r : tree_remove(dir, moving->hidden, err);
}

int moved_settle(const struct resource *resource, struct hb_error *err)
{
	struct moving moving;
	auto_fd int fd = -1;
	int r = 0;

	fd = sys_openat(resource->dir, MOVED_RECORD, O_RDWR | O_NOFOLLOW, 0);
	if (fd == -ENOENT || resource->dir < 0)
		return 0;
	if (fd >= 0 && resource->upper >= 0 &&
	    sys_pread_full(fd, &moving, sizeof(moving), 0) ==
		    (ssize_t)sizeof(moving) &&
	    moving_is_sound(&moving))
		r = settle(resource->upper, fd, &moving, err);
	if (r >= 0)
		r = sys_unlinkat(resource->dir, MOVED_RECORD, 0);
	if (r < 0)
		return hb_fail(err, r,
			       "cannot end the rename of a directory that the "
			       "command had begun");
	return 0;
}
