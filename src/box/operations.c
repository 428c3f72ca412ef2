/* SPDX-License-Identifier: Apache-2.0 */
#include "box/operations.h"

#include "base/auto.h"
#include "box/dest.h"
#include "box/mounts.h"
#include "box/state.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* The operations of a plan, in their order. */

#define FUNCTION(id_, name_, members_, traits_, perms_, function_) \
	[OP_##id_] = op_##function_,

static const op_fn op_table[OP_END] = { PLAN_OPS(FUNCTION) };

/*
 * Before the first operation: an operation may create a mount point on the host
 * (in a writable bind).  A call that fails leaves no trace.
 */
static int check_sources(const struct box *box, struct hb_error *err)
{
	bool is_writable = false;

	for (size_t i = 0; i < box->plan->n_ops; i++) {
		const struct plan_op *op = &box->plan->ops[i];

		is_writable |= op->kind == OP_BIND && !(op->flags & PLAN_RO);
	}
	for (size_t i = 0; is_writable && i < box->plan->n_ops; i++) {
		const struct plan_op *op = &box->plan->ops[i];
		struct stat st;
		int r;

		if (op->kind != OP_BIND || op->flags & PLAN_TRY)
			continue;
		r = sys_fstatat(AT_FDCWD, op->source, &st, 0);
		if (r < 0)
			return box_fail(box, err, r, WORD_NO_SOURCE,
					op->source);
	}
	return 0;
}

/* 1: there is nothing to cover. */
static int check_cover(const struct box *box, const struct plan_op *op,
		       struct hb_error *err)
{
	auto_fd int fd = -1;

	if (!(op->flags & PLAN_COVER))
		return 0;
	fd = dest_open(box, op->dest);
	if ((fd == -ENOENT || fd == -ENOTDIR) && op->flags & PLAN_TRY)
		return 1;
	return fd < 0 ? hb_fail(err, fd, "cannot cover '%s'", op->dest) : 0;
}

int step_mounts(struct box *box, struct hb_error *err)
{
	mode_t old_mask;
	int r;

	r = check_sources(box, err);
	if (r < 0)
		return r;
	r = mounts_make_scratch(box, err);
	if (r < 0)
		return r;
	if (!mounts_begin_with_root(box->plan)) {
		int mount = mounts_new_tmpfs(MOUNTS_DIR_MODE, 0, 0,
					     MOUNTS_TMPFS_ATTR, err);

		if (mount < 0)
			return mount;
		r = mounts_attach(box, mount, "/", MOUNTS_DIR_MODE, err);
		if (r < 0)
			return r;
	}

	/* Modes are those of the plan, under any mask of the caller. */
	old_mask = sys_umask(0);
	for (size_t i = 0; i < box->plan->n_ops; i++) {
		const struct plan_op *op = &box->plan->ops[i];

		r = check_cover(box, op, err);
		if (r == 0)
			r = op_table[op->kind](box, op, err);
		if (r < 0)
			return r;
	}
	(void)sys_umask(old_mask);
	return 0;
}
