/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/mounts.h"
#include "box/operations.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/mount.h"
#include "sys/signal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * A minimal /dev on a tmpfs of its own.  Device nodes cannot be made in a user
 * namespace, so each is the host's node mounted on an empty file.
 */

static const char *const nodes[] = { "null",   "zero",	  "full",
				     "random", "urandom", "tty" };

static const struct {
	const char *name, *target;
} links[] = {
	{ "stdin", "/proc/self/fd/0" },	 { "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" }, { "fd", "/proc/self/fd" },
	{ "core", "/proc/kcore" },	 { "ptmx", "pts/ptmx" },
};

static const char *const dirs[] = { "shm", "pts" };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Mounts a clone of the device at the host path `from` on the file `name`.  It
 * is private because everything is by now; attributes come for all at once.
 */
static int place_node(int dev, const char *from, const char *name,
		      struct hb_error *err)
{
	auto_fd int mount = -1;
	int r;

	mount = sys_clone_tree(AT_FDCWD, from, 0);
	if (mount < 0)
		return hb_fail(err, mount, "cannot find device '%s'", from);
	r = sys_make_file_at(dev, name, 0444);
	if (r < 0)
		return hb_fail(err, r, "cannot make '/dev/%s'", name);
	r = sys_attach_at(mount, dev, name);
	if (r < 0)
		return hb_fail(err, r, "cannot mount '/dev/%s'", name);
	return 0;
}

/*
 * No gid=: it could name a group that is not mapped.  With the uid mapped to
 * itself the instance belongs to the user, not to its mounter.
 */
static int place_pts(int dev, struct hb_error *err)
{
	auto_fd int fs = -1;
	auto_fd int mount = -1;
	int r;

	fs = sys_fsopen("devpts");
	if (fs < 0)
		return hb_fail(err, fs, "cannot open a devpts");
	r = sys_fsconfig_string(fs, "ptmxmode", "0666");
	if (r >= 0)
		r = sys_fsconfig_string(fs, "mode", "620");
	if (r >= 0)
		r = sys_fsconfig_create(fs);
	if (r >= 0)
		r = mount = sys_fsmount(fs, K_MOUNT_NOSUID | K_MOUNT_NOEXEC);
	if (r < 0)
		return hb_fail(err, r, "cannot make a devpts");
	r = sys_attach_at(mount, dev, "pts");
	if (r < 0)
		return hb_fail(err, r, "cannot mount '/dev/pts'");
	return 0;
}

/*
 * The command's terminal as /dev/console: its real name is in the host's
 * devpts, and without any name ttyname() fails inside.  The path is looked up
 * anew in our mount namespace and must still be that terminal.
 */
static int place_console(const struct box *box, int dev, struct hb_error *err)
{
	int fd = box->peer >= 0 ? box->peer : 1;
	char link[32], path[PATH_MAX];
	struct stat want, got;

	if (!sys_isatty(fd))
		return 0;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (sys_readlinkat(AT_FDCWD, link, path, sizeof(path)) < 0)
		return 0;
	if (sys_fstat(fd, &want) < 0 ||
	    sys_fstatat(AT_FDCWD, path, &got, 0) < 0 ||
	    want.st_dev != got.st_dev || want.st_ino != got.st_ino)
		return 0;
	return place_node(dev, path, "console", err);
}

static int fill_dev(const struct box *box, int dev, struct hb_error *err)
{
	char from[32];
	int r;

	for (size_t i = 0; i < COUNT(nodes); i++) {
		(void)snprintf(from, sizeof(from), "/dev/%s", nodes[i]);
		r = place_node(dev, from, nodes[i], err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < COUNT(links); i++) {
		r = sys_symlinkat(links[i].target, dev, links[i].name);
		if (r < 0)
			return hb_fail(err, r, "cannot make '/dev/%s'",
				       links[i].name);
	}
	for (size_t i = 0; i < COUNT(dirs); i++) {
		r = sys_mkdirat(dev, dirs[i], 0755);
		if (r < 0)
			return hb_fail(err, r, "cannot make '/dev/%s'",
				       dirs[i]);
	}
	return place_console(box, dev, err);
}

int op_dev(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	uint64_t attr = K_MOUNT_NOSUID;
	auto_fd int dev = -1;
	int r;

	dev = mounts_new_tmpfs(0755, 0, 0, K_MOUNT_NOSUID | K_MOUNT_NODEV, err);
	if (dev < 0)
		return dev;
	/* Attached first: before 6.15 nothing mounts on a detached mount. */
	r = mounts_attach(box, dev, op->dest, 0755, err);
	if (r < 0)
		return r;
	r = fill_dev(box, dev, err);
	if (r < 0)
		return r;
	/*
	 * The nodes as well: they are the host's, and root, who owns them,
	 * could change their modes.  A device on a read-only mount is written
	 * as ever.
	 */
	if (op->flags & PLAN_RO)
		attr |= K_MOUNT_RDONLY;
	r = sys_mount_setattr(dev, attr, 1);
	if (r < 0)
		return hb_fail(err, r, "cannot restrict '%s'", op->dest);
	/* Last, because new terminals are given modes and owners. */
	return place_pts(dev, err);
}
