/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/mask.h"
#include "box/mounts.h"
#include "box/operations.h"
#include "box/own.h"
#include "box/source.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/mount.h"

#include <errno.h>
#include <fcntl.h>

static uint64_t bind_attributes(const struct plan_op *op)
{
	uint64_t attr = K_MOUNT_NOSUID;

	if (op->flags & PLAN_RO)
		attr |= K_MOUNT_RDONLY;
	if (!(op->flags & PLAN_DEVICES))
		attr |= K_MOUNT_NODEV;
	if (op->flags & PLAN_NOEXEC)
		attr |= K_MOUNT_NOEXEC;
	return attr;
}

static int attach_bind(struct box *box, const struct plan_op *op, int mount,
		       struct hb_error *err)
{
	int r;

	r = sys_mount_setattr_private(mount, bind_attributes(op));
	if (r < 0)
		return hb_fail(err, r, "cannot restrict the mount for '%s'",
			       op->dest);
	return mounts_attach(box, mount, op->dest, MOUNTS_DIR_MODE, err);
}

/* One call less where anything that is there will do. */
static int clone_source(const struct box *box, const struct plan_op *op)
{
	auto_fd int fd = -1;

	if (!(op->flags & PLAN_REAL))
		return sys_clone_tree(AT_FDCWD, source_path(box, op->source),
				      1);
	fd = mounts_open_source(box, op, 0);
	return fd < 0 ? fd : sys_clone_tree(fd, "", 1);
}

int op_bind(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	auto_fd int mount = -1;

	if (op->flags & PLAN_MASKED) {
		mount = mask_mount(box, op, err);
		if (mount >= 0)
			return attach_bind(box, op, mount, err);
		if (mount != -EOPNOTSUPP)
			return mount;
	}
	if (op->flags & PLAN_OWN) {
		mount = own_mount(box, op, err);
		if (mount == -ENOENT && op->flags & PLAN_TRY)
			return 0;
		return mount < 0 ? mount : attach_bind(box, op, mount, err);
	}
	mount = clone_source(box, op);
	if (mount == -ENOENT && op->flags & PLAN_TRY)
		return 0;
	if (mount < 0)
		return box_fail(box, err, mount, WORD_NO_SOURCE, op->source);
	return attach_bind(box, op, mount, err);
}

/*
 * A descriptor from before the clone belongs to another mount namespace, which
 * the kernel does not let us bind from.  So its path is looked up anew and must
 * still be the same object.
 */
int op_bind_fd(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	char link[32], path[PATH_MAX];
	auto_fd int mount = -1;
	struct stat want, got;
	ssize_t n;
	int r;

	r = sys_fstat(op->fd, &want);
	if (r < 0)
		return hb_fail(err, r, "Can't stat fd %d", op->fd);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", op->fd);
	n = sys_readlinkat(AT_FDCWD, link, path, sizeof(path));
	if (n < 0)
		return hb_fail(err, (int)n, "Can't find the path of fd %d",
			       op->fd);
	mount = sys_clone_tree(AT_FDCWD, path, 1);
	if (mount < 0)
		return box_fail(box, err, mount, WORD_NO_SOURCE, path);
	r = sys_fstat(mount, &got);
	if (r >= 0 && (want.st_dev != got.st_dev || want.st_ino != got.st_ino))
		r = -ESTALE;
	if (r < 0)
		return hb_fail(err, r, "Race condition binding dirfd");
	return attach_bind(box, op, mount, err);
}
