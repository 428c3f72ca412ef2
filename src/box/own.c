/* SPDX-License-Identifier: Apache-2.0 */
#include "box/own.h"

#include "base/auto.h"
#include "base/path.h"
#include "box/mounts.h"
#include "box/overlay.h"
#include "box/source.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/*
 * What the host has, and nothing else of it.
 *
 * A bind that cannot be written still has the host's inodes.  A command talks
 * to the listener of a socket there, takes the host's locks, and keeps the
 * host's writers waiting by a lease.  In an overlay the inodes are its own, so
 * that a socket refuses and a lock holds no host process up.
 *
 *	(a) One overlay of `base` does for everything below it, of which the
 *	    view gets clones: an overlay costs ten times what a bind does.  Its
 *	    other parts are in no view, as nothing attaches them.
 *	(b) The kernel makes no overlay of a directory with mounts in it that
 *	    came from outside, so that what is found in one is what the host
 *	    shows there.
 *	(c) Links lead out of an overlay to the host's own: what a link leads
 *	    to gets an overlay by itself.
 *
 * tests/escape/shown.py
 */

#define NO_LINKS                                                               \
	(K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS | \
	 K_RESOLVE_NO_XDEV)

/* A read-only overlay needs a second layer: an empty one. */
static int make_layer(const struct box *box, int dir, size_t number)
{
	struct stat st;
	char name[32];
	int r;

	(void)snprintf(name, sizeof(name), "own.%zu", number);
	/* The root of the result has the mode of this one. */
	r = sys_fstat(dir, &st);
	if (r >= 0)
		r = sys_mkdirat(box->scratch, name, st.st_mode & 0777);
	return r < 0 ? r
		     : sys_openat(box->scratch, name, O_PATH | O_DIRECTORY, 0);
}

/* -errno without words, like everything here. */
static int make_overlay(const struct box *box, int dir, size_t number)
{
	auto_fd int layer = make_layer(box, dir, number);
	auto_fd int mount = -1;
	int r = layer;

	if (r >= 0)
		r = mounts_show_scratch(box, true, NULL);
	if (r < 0)
		return r;
	mount = overlay_read_only(dir, layer);
	r = mounts_show_scratch(box, false, NULL);
	return r < 0 ? r : take_fd(&mount);
}

static int clone_in(int overlay, const char *name)
{
	auto_fd int fd = sys_openat2(overlay, name, O_PATH, 0, NO_LINKS);

	return fd < 0 ? fd : sys_clone_tree(fd, "", 1);
}

/* What lies below the plan's base, as (a) has it. */
static int clone_shared(struct box *box, const struct plan_op *op)
{
	auto_fd int dir = -1;

	/* Before 6.15 there are no clones of what is not attached. */
	if (!op->base || box->scratch_copy < 0 ||
	    !path_is_beneath(op->source, op->base) ||
	    strcmp(op->source, op->base) == 0)
		return -EOPNOTSUPP;
	if (!box->own_base) {
		box->own_base = op->base;
		dir = sys_openat2(AT_FDCWD, source_path(box, op->base),
				  O_PATH | O_DIRECTORY, 0,
				  K_RESOLVE_NO_SYMLINKS);
		if (dir >= 0)
			box->own = make_overlay(box, dir, box->plan->n_ops);
	}
	if (box->own < 0 || strcmp(box->own_base, op->base) != 0)
		return -EOPNOTSUPP;
	return clone_in(box->own, op->source + strlen(op->base) + 1);
}

/* A file is shown out of an overlay of the directory that it lies in. */
static int clone_file(struct box *box, int file, size_t number)
{
	char link[32], path[PATH_MAX], *slash;
	auto_fd int dir = -1;
	auto_fd int overlay = -1;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	n = sys_readlinkat(AT_FDCWD, link, path, sizeof(path));
	slash = n < 0 ? NULL : strrchr(path, '/');
	if (!slash)
		return -EOPNOTSUPP;
	*slash = '\0';
	dir = sys_openat2(AT_FDCWD, slash == path ? "/" : path,
			  O_PATH | O_DIRECTORY, 0, K_RESOLVE_NO_SYMLINKS);
	if (dir < 0)
		return dir;
	overlay = make_overlay(box, dir, number);
	return overlay < 0 ? overlay : clone_in(overlay, slash + 1);
}

int own_mount(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	size_t number = (size_t)(op - box->plan->ops);
	auto_fd int fd = -1;
	struct stat st;
	int r;

	r = clone_shared(box, op);
	if (r >= 0)
		return r;
	fd = mounts_open_source(box, op, 0);
	if (fd == -ENOENT && op->flags & PLAN_TRY)
		return -ENOENT;
	if (fd < 0)
		return box_fail(box, err, fd, WORD_NO_SOURCE, op->source);
	r = sys_fstat(fd, &st);
	if (r >= 0)
		r = S_ISDIR(st.st_mode) ? make_overlay(box, fd, number)
					: clone_file(box, fd, number);
	return r < 0 ? hb_fail(err, -HB_E_UNSUPPORTED,
			       "cannot show '%s' without its sockets and locks",
			       op->source)
		     : r;
}
