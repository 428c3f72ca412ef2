/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/mounts.h"
#include "box/operations.h"
#include "box/state.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/*
 * procfs: a new instance where the box has a pid namespace of its own, else
 * the host's.  What acts on the whole machine is read-only in either.
 */

/*
 * A command that keeps capabilities can undo this by itself.  For it we do as
 * bubblewrap does: the first rows, where access() says yes.
 */
static const struct {
	const char *name;
	bool is_also_bubblewraps;
} covered[] = {
	{ "sys", true },   { "sysrq-trigger", true },
	{ "irq", true },   { "bus", true },
	{ "fs", false },   { "acpi", false },
	{ "scsi", false }, { "dynamic_debug", false },
};

static int cover(const struct box *box, int proc, size_t i,
		 struct hb_error *err)
{
	const char *name = covered[i].name;
	auto_fd int mount = -1;
	int r;

	/*
	 * Without capabilities the answer of access() is not to be trusted: it
	 * is about the directory, and root owns the files of /proc/sys.
	 */
	if (box->caps && (!covered[i].is_also_bubblewraps ||
			  sys_faccessat(proc, name, W_OK) < 0))
		return 0;
	mount = sys_clone_tree(proc, name, 1);
	if (mount == -ENOENT)
		return 0;
	if (mount < 0)
		return hb_fail(err, mount, "cannot clone '/proc/%s'", name);
	r = sys_mount_setattr_private(mount, K_MOUNT_RDONLY | K_MOUNT_NOSUID |
						     K_MOUNT_NODEV |
						     K_MOUNT_NOEXEC);
	if (r < 0)
		return hb_fail(err, r, "cannot make '/proc/%s' read-only",
			       name);
	r = sys_attach_at(mount, proc, name);
	if (r < 0)
		return hb_fail(err, r, "cannot cover '/proc/%s'", name);
	return 0;
}

/* In the scratch space: empty, and closed to everybody. */
#define CLOSED_FILE "closed"
#define CLOSED_DIR  "closed.d"
#define LIST_SIZE   4096

/*
 * Files that tell of the user's keys, and to root of init's open files. init is
 * not dumpable, but these belong to root then, and are listed.  The rest that
 * only root reads is found by its mode.
 */
static const struct {
	const char *name;
	bool is_dir;
	bool is_roots; /* out of reach of everybody else anyway */
} closed[] = {
	{ "keys", false, false },     { "key-users", false, false },
	{ "tty/driver", true, true }, { "1/fd", true, true },
	{ "1/fdinfo", true, true },   { "1/task", true, true },
};

static int make_closed(const struct box *box, struct hb_error *err)
{
	int fd = sys_openat(box->scratch, CLOSED_FILE,
			    O_WRONLY | O_CREAT | O_EXCL, 0);
	int r = fd;

	if (fd >= 0) {
		sys_close(fd);
		r = sys_mkdirat(box->scratch, CLOSED_DIR, 0);
	}
	return r < 0 && r != -EEXIST
		       ? hb_fail(err, r, "cannot make the covers of /proc")
		       : 0;
}

static int close_one(const struct box *box, int proc, const char *name,
		     bool is_dir, struct hb_error *err)
{
	auto_fd int mount = -1;
	struct stat st;
	int r;

	if (sys_fstatat(proc, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	mount = mounts_clone_scratch(box, is_dir ? CLOSED_DIR : CLOSED_FILE,
				     err);
	if (mount < 0)
		return mount;
	r = sys_mount_setattr_private(mount, K_MOUNT_RDONLY | K_MOUNT_NOSUID |
						     K_MOUNT_NODEV |
						     K_MOUNT_NOEXEC);
	if (r >= 0)
		r = sys_attach_at(mount, proc, name);
	return r < 0 ? hb_fail(err, r, "cannot cover '/proc/%s'", name) : 0;
}

/* Files of the first level that others cannot read. */
static int close_by_mode(const struct box *box, int proc, struct hb_error *err)
{
	char block[LIST_SIZE] __attribute__((aligned(8)));
	auto_fd int list = sys_openat(proc, ".", O_RDONLY | O_DIRECTORY, 0);
	ssize_t n;
	int r = list;

	if (list < 0)
		return hb_fail(err, list, "cannot list /proc");
	while (r >= 0 && (n = sys_getdents(list, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; r >= 0 && at < n;) {
			const struct k_dirent *e = (const void *)(block + at);
			struct stat st;

			at += e->reclen;
			if (sys_fstatat(proc, e->name, &st,
					AT_SYMLINK_NOFOLLOW) >= 0 &&
			    S_ISREG(st.st_mode) && !(st.st_mode & S_IROTH))
				r = close_one(box, proc, e->name, false, err);
		}
	}
	return r < 0 ? r : 0;
}

static int close_all(const struct box *box, int proc, struct hb_error *err)
{
	int r = make_closed(box, err);

	for (size_t i = 0; r >= 0 && i < sizeof(closed) / sizeof(closed[0]);
	     i++)
		if (box->uid == 0 || !closed[i].is_roots)
			r = close_one(box, proc, closed[i].name,
				      closed[i].is_dir, err);
	if (r >= 0 && box->uid == 0)
		r = close_by_mode(box, proc, err);
	return r;
}

static int new_procfs(struct hb_error *err)
{
	int mount = mounts_new("proc", err);

	if (mount == -EPERM)
		hb_fix(err,
		       "something is mounted over parts of /proc, as in a container; unmask it (docker: --security-opt systempaths=unconfined, podman: --security-opt unmask=ALL)");
	return mount;
}

static int host_procfs(uint64_t more, struct hb_error *err)
{
	int mount, r;

	mount = sys_clone_tree(AT_FDCWD, "/proc", 1);
	if (mount < 0)
		return hb_fail(err, mount, "cannot clone '/proc'");
	r = sys_mount_setattr_private(
		mount, more | K_MOUNT_NOSUID | K_MOUNT_NODEV | K_MOUNT_NOEXEC);
	if (r >= 0)
		return mount;
	sys_close(mount);
	return hb_fail(err, r, "cannot restrict '/proc'");
}

/*
 * Everything there that can be written belongs to root.  Where root has no id
 * of ours, there is nothing to cover.
 */
static bool may_be_root(const struct box *box)
{
	return box->uid == 0 || box->plan->fds[PLAN_FD_USERNS] >= 0 ||
	       box->plan->fds[PLAN_FD_USERNS_BLOCK] >= 0;
}

int op_proc(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	bool has_pid_ns =
		box->ns & PLAN_NS_PID || box->plan->fds[PLAN_FD_PIDNS] >= 0;
	auto_fd int proc = -1;
	int r;

	if (op->flags & PLAN_HOST_PROC)
		proc = host_procfs(K_MOUNT_RDONLY, err);
	else
		proc = has_pid_ns ? new_procfs(err) : host_procfs(0, err);
	if (proc < 0)
		return proc;
	r = mounts_attach(box, proc, op->dest, 0755, err);
	if (r >= 0 && op->flags & PLAN_OWN)
		r = close_all(box, proc, err);
	if (r < 0)
		return r;
	if (!may_be_root(box) || op->flags & PLAN_HOST_PROC)
		return 0;
	for (size_t i = 0; i < sizeof(covered) / sizeof(covered[0]); i++) {
		r = cover(box, proc, i, err);
		if (r < 0)
			return r;
	}
	return 0;
}
