/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/state.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>

/*
 * What the caller gives as 0, 1 and 2 lies in the host's mounts.  The owner of
 * a file can change its mode, owner, times and attributes by a descriptor open
 * for reading, or by its magic link.  Neither landlock nor a filter on
 * descriptor numbers prevents that.  A read-only mount does, and a descriptor
 * belongs to the mount in which it was opened.  So the file is opened again, in
 * a read-only clone of its mount that is nowhere attached.
 *
 * A file that is open for writing needs a writable mount: a caller that gives
 * the command a file to write gives it the file.  Pipes, sockets and files
 * without a name are nothing that stays. /dev/null and the like are replaced by
 * the nodes of the view; a terminal keeps its own, for its name's sake.
 * tests/escape/stdio-metadata.sh
 */

#define KEPT_FLAGS (O_ACCMODE | O_APPEND | O_NONBLOCK)

/* A read-only clone of the mount of `fd`, as this mount namespace has it. */
static int clone_of(int fd, const struct stat *want)
{
	char link[32], path[PATH_MAX];
	auto_fd int mount = -1;
	struct stat got;
	ssize_t n;
	int r;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = sys_readlinkat(AT_FDCWD, link, path, sizeof(path));
	if (n < 0)
		return (int)n;
	mount = sys_clone_tree(AT_FDCWD, path, 0);
	if (mount < 0)
		return mount;
	r = sys_fstat(mount, &got);
	if (r < 0)
		return r;
	if (got.st_dev != want->st_dev || got.st_ino != want->st_ino)
		return -ESTALE;
	r = sys_mount_setattr_private(mount, K_MOUNT_RDONLY | K_MOUNT_NOSUID);
	return r < 0 ? r : take_fd(&mount);
}

/* Opens what `fd` has once more, in a read-only mount, in its place. */
static int open_again(int fd, int flags, const struct stat *want)
{
	auto_fd int mount = clone_of(fd, want);
	auto_fd int again = -1;
	char link[32];
	int64_t at;
	int r;

	if (mount < 0)
		return mount;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", mount);
	again = sys_openat(AT_FDCWD, link, (flags & KEPT_FLAGS) | O_NOCTTY, 0);
	if (again < 0)
		return again;
	at = sys_tell(fd);
	r = at < 0 ? (int)at : sys_seek(again, at);
	return r < 0 ? r : sys_dup_to(again, fd);
}

static int cannot_keep(int fd, int r, struct hb_error *err)
{
	return hb_fail(err, r,
		       "cannot protect the file at descriptor %d from changes",
		       fd);
}

/* The flags of an open descriptor of that type, else -EBADF. */
static int look_at(int fd, mode_t type, struct stat *ret)
{
	int flags = sys_fd_flags(fd);

	if (flags < 0 || flags & O_PATH || sys_fstat(fd, ret) < 0 ||
	    (ret->st_mode & S_IFMT) != type)
		return -EBADF;
	return flags;
}

/* The flags of a file that is only to be read, else -EBADF. */
static int look_at_read(int fd, struct stat *ret)
{
	int flags = look_at(fd, S_IFREG, ret);

	if (flags < 0 || ret->st_nlink == 0 || (flags & O_ACCMODE) != O_RDONLY)
		return -EBADF;
	return flags;
}

bool stdio_needs_mount(void)
{
	struct stat st;

	for (int fd = 0; fd < 3; fd++)
		if (look_at_read(fd, &st) >= 0)
			return true;
	return false;
}

int step_stdio(struct box *box, struct hb_error *err)
{
	if (!is_set(box, PLAN_CLOSE_FDS))
		return 0;
	for (int fd = 0; fd < 3; fd++) {
		struct stat st;
		int flags = look_at_read(fd, &st);
		int r;

		if (flags < 0)
			continue;
		r = open_again(fd, flags, &st);
		/*
		 * Who does not own it can change nothing of it, and in a
		 * box it is what the box around us has opened again.
		 */
		if (r >= 0 || st.st_uid != box->in_uid || sys_is_read_only(fd))
			continue;
		hb_fix(err, "give it through a pipe: cat FILE | holdback ...");
		return cannot_keep(fd, r, err);
	}
	return 0;
}

/* What the view has a node of its own for, in a mount that is read-only. */
#define MEMORY 1
static const struct {
	unsigned minor; /* of the major number MEMORY */
	const char *path;
} nodes[] = {
	{ 3, "/dev/null" },   { 5, "/dev/zero" },    { 7, "/dev/full" },
	{ 8, "/dev/random" }, { 9, "/dev/urandom" },
};

static int use_own_node(int fd, int flags, const struct stat *want)
{
	auto_fd int own = -1;
	struct stat got;
	size_t i = 0;
	int r;

	while (i < sizeof(nodes) / sizeof(nodes[0]) &&
	       nodes[i].minor != minor(want->st_rdev))
		i++;
	if (i == sizeof(nodes) / sizeof(nodes[0]) ||
	    major(want->st_rdev) != MEMORY)
		return 0;
	own = sys_openat(AT_FDCWD, nodes[i].path,
			 (flags & KEPT_FLAGS) | O_NOFOLLOW | O_NOCTTY, 0);
	r = own < 0 ? own : sys_fstat(own, &got);
	if (r < 0)
		return r;
	if (!S_ISCHR(got.st_mode) || got.st_rdev != want->st_rdev)
		return -ESTALE;
	return sys_dup_to(own, fd);
}

int step_devices(struct box *box, struct hb_error *err)
{
	if (!is_set(box, PLAN_CLOSE_FDS))
		return 0;
	for (int fd = 0; fd < 3; fd++) {
		struct stat st;
		int flags = look_at(fd, S_IFCHR, &st);
		int r;

		if (flags < 0)
			continue;
		r = use_own_node(fd, flags, &st);
		if (r < 0 && st.st_uid == box->in_uid)
			return cannot_keep(fd, r, err);
	}
	return 0;
}
