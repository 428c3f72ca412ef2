/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/mounts.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * procfs: a new instance where the box has a pid namespace of its own, else
 * the host's.  What acts on the whole machine is read-only in either.
 */

/*
 * A command that keeps capabilities can undo this by itself: for it we do what
 * bubblewrap does, which is the first rows, where access() says yes.
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
 * Everything there that can be written belongs to root.  Where root is nobody
 * we know, there is nothing to cover.
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
