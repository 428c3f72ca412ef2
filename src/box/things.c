/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/dest.h"
#include "box/mounts.h"
#include "box/operations.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/mount.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * Operations that make directories, files and links inside the new root, and
 * set what is not a file.
 */

#define COPY_SIZE 16384

#define DIR_MODE       0755
#define FILE_MODE      0666
#define BIND_DATA_MODE 0600

static mode_t perms_or(const struct plan_op *op, mode_t otherwise)
{
	return op->flags & PLAN_HAS_PERMS ? op->perms : otherwise;
}

int op_dir(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	auto_fd int fd = -1;
	mode_t mode = perms_or(op, DIR_MODE);

	fd = dest_make_dir(box, op->dest, mode, dest_parent_mode(mode), err);
	return fd < 0 ? fd : 0;
}

/* The content of an operation: the rest of its descriptor, or its text. */
static int fill(const struct plan_op *op, int to)
{
	char block[COPY_SIZE];

	if (op->flags & PLAN_TEXT)
		return sys_write_all(to, op->source, strlen(op->source));
	for (;;) {
		ssize_t n = sys_read(op->fd, block, sizeof(block));
		int r;

		if (n <= 0)
			return (int)n;
		r = sys_write_all(to, block, (size_t)n);
		if (r < 0)
			return r;
	}
}

int op_file(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	const bool may_fail = op->flags & PLAN_TRY;
	mode_t mode = perms_or(op, FILE_MODE);
	auto_fd int parent = -1;
	auto_fd int fd = -1;
	const char *name;
	int r;

	parent = dest_open_parent(box, op->dest, dest_parent_mode(mode), &name,
				  may_fail ? NULL : err);
	if (parent < 0)
		return may_fail ? 0 : parent;
	fd = sys_openat2(box->root, op->dest,
			 O_WRONLY | O_CREAT | (may_fail ? O_EXCL : O_TRUNC),
			 mode,
			 K_RESOLVE_IN_ROOT | K_RESOLVE_NO_MAGICLINKS |
				 (may_fail ? K_RESOLVE_NO_SYMLINKS : 0));
	if (fd < 0 && may_fail)
		return 0;
	if (fd < 0)
		return hb_fail(err, fd, "Can't create file %s", op->dest);
	r = fill(op, fd);
	if (r < 0)
		return hb_fail(err, r, "Can't write data to file %s", op->dest);
	return 0;
}

int op_bind_data(struct box *box, const struct plan_op *op,
		 struct hb_error *err)
{
	mode_t mode = perms_or(op, BIND_DATA_MODE);
	auto_fd int mount = -1;
	char name[32];
	int r;

	(void)snprintf(name, sizeof(name), "data.%zu",
		       (size_t)(op - box->plan->ops));
	{
		auto_fd int fd = -1;

		fd = sys_openat(box->scratch, name, O_WRONLY | O_CREAT | O_EXCL,
				mode);
		if (fd < 0)
			return hb_fail(err, fd, "Can't create tmpfile for %s",
				       op->dest);
		r = fill(op, fd);
		if (r < 0)
			return hb_fail(err, r, "Can't write data to file %s",
				       op->dest);
	}
	mount = mounts_clone_scratch(box, name, err);
	if (mount < 0)
		return hb_fail(err, mount, "cannot bind the data for '%s'",
			       op->dest);
	r = sys_mount_setattr_private(
		mount, K_MOUNT_NOSUID | K_MOUNT_NODEV |
			       (op->flags & PLAN_RO ? K_MOUNT_RDONLY : 0));
	if (r < 0)
		return hb_fail(err, r, "cannot restrict the data for '%s'",
			       op->dest);
	return mounts_attach(box, mount, op->dest, dest_parent_mode(mode), err);
}

int op_symlink(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	auto_fd int parent = -1;
	char found[PATH_MAX];
	const char *name;
	int r;

	parent = dest_open_parent(box, op->dest, DIR_MODE, &name, err);
	if (parent < 0)
		return parent;
	r = sys_symlinkat(op->source, parent, name);
	if (r == -EEXIST &&
	    sys_readlinkat(parent, name, found, sizeof(found)) >= 0) {
		if (strcmp(found, op->source) == 0)
			return 0;
		return hb_fail(
			err, r,
			"Can't make symlink at %s: existing destination is %s",
			op->dest, found);
	}
	if (r < 0)
		return hb_fail(err, r, "Can't make symlink at %s", op->dest);
	return 0;
}

int op_chmod(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	fd = dest_open(box, op->dest);
	r = fd < 0 ? fd : sys_chmod_fd(fd, op->perms);
	if (r < 0)
		return hb_fail(err, r, "Can't chmod %#o %s",
			       (unsigned)op->perms, op->dest);
	return 0;
}

int op_hostname(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	int r;

	(void)box;
	r = sys_sethostname(op->source);
	if (r < 0)
		return hb_fail(err, r, "Can't set hostname to %s", op->source);
	return 0;
}
