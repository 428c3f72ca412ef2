/* SPDX-License-Identifier: Apache-2.0 */
#include "box/mounts.h"

#include "base/auto.h"
#include "box/dest.h"
#include "box/operations.h"
#include "box/source.h"
#include "box/state.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * How the view is built
 * ---------------------
 *
 * The new root is a mount that lies on top of the host's "/" in the mount
 * namespace of the box.  Our own root directory stays the host's, and a look-up
 * from "/" does not cross the mount there.  So sources are host paths until the
 * very end.  Destinations are looked up from box->root.
 *
 *	(a) A destination never resolves to anything outside of box->root:
 *	    box/dest.c is the only way to one.  tests/bwrap/planted-link.sh
 *	(b) Nothing is attached before it has its final attributes.
 *	(c) A clone of a host directory never contains the new root: that is
 *	    kept out of clones (unbindable) while the view is built.
 *	(d) Nothing mounted on the host later arrives inside: every clone is
 *	    private from before it is attached.  tests/bwrap/propagation.sh
 *
 * If the first operation mounts on "/", that mount is the root and no tmpfs is
 * made for it.
 */

#define MOUNT_FILE_MODE 0444
#define ATTACH_TRIES	10

/* Where a size is a limit of ours. */
static uint64_t inodes_of(const struct box *box, uint64_t size)
{
	if (size == 0 || !is_set(box, PLAN_LIMITS))
		return 0;
	return plan_inodes(box->plan->limits.inodes, size);
}

int mounts_new_tmpfs(mode_t mode, uint64_t size, uint64_t inodes, unsigned attr,
		     struct hb_error *err)
{
	auto_fd int fs = -1;
	char text[32];
	int r;

	fs = sys_fsopen("tmpfs");
	if (fs < 0)
		return hb_fail(err, fs, "cannot open a tmpfs");
	(void)snprintf(text, sizeof(text), "%o", (unsigned)mode);
	r = sys_fsconfig_string(fs, "mode", text);
	if (r >= 0 && size > 0) {
		(void)snprintf(text, sizeof(text), "%" PRIu64, size);
		r = sys_fsconfig_string(fs, "size", text);
	}
	if (r >= 0 && inodes > 0) {
		(void)snprintf(text, sizeof(text), "%" PRIu64, inodes);
		r = sys_fsconfig_string(fs, "nr_inodes", text);
	}
	if (r >= 0)
		r = sys_fsconfig_create(fs);
	if (r >= 0)
		r = sys_fsmount(fs, attr);
	return r < 0 ? hb_fail(err, r, "cannot make a tmpfs") : r;
}

int mounts_new(const char *type, struct hb_error *err)
{
	auto_fd int fs = -1;
	int r;

	fs = sys_fsopen(type);
	if (fs < 0)
		return hb_fail(err, fs, "cannot open a file system of type %s",
			       type);
	r = sys_fsconfig_create(fs);
	if (r >= 0)
		r = sys_fsmount(fs, K_MOUNT_NOSUID | K_MOUNT_NODEV |
					    K_MOUNT_NOEXEC);
	if (r < 0)
		return hb_fail(err, r, "cannot make a file system of type %s",
			       type);
	return r;
}

static bool is_root_path(const char *path)
{
	return path[0] != '\0' && path[strspn(path, "/")] == '\0';
}

static bool has_trait(const struct plan_op *op, unsigned trait)
{
	return plan_kinds[op->kind].traits & trait;
}

bool mounts_begin_with_root(const struct plan *plan)
{
	return plan->n_ops > 0 && has_trait(&plan->ops[0], OP_IS_TREE) &&
	       !(plan->ops[0].flags & PLAN_TRY) &&
	       is_root_path(plan->ops[0].dest);
}

/* `mount` is the root from here on; takes it. */
static int become_root(struct box *box, int mount, struct hb_error *err)
{
	int r;

	if (box->root >= 0) {
		sys_close(box->root);
		box->n_stacked++;
	}
	box->root = mount;
	r = sys_place(mount, &box->root_place);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the new root");
	return 0;
}

/* Whether an operation still to come clones a host tree with all below it. */
static bool has_clones(const struct plan *plan)
{
	for (size_t i = 1; i < plan->n_ops; i++)
		if (has_trait(&plan->ops[i], OP_IS_CLONE))
			return true;
	return plan->n_ops > 0 && has_trait(&plan->ops[0], OP_IS_CLONE) &&
	       !mounts_begin_with_root(plan);
}

static int first_root(struct box *box, int mount, struct hb_error *err)
{
	int r;

	r = sys_attach_at(mount, AT_FDCWD, "/");
	if (r < 0)
		return hb_fail(err, r, "cannot attach the new root");
	if (has_clones(box->plan)) {
		r = sys_mount_hide_from_clones(mount, 1);
		if (r < 0)
			return hb_fail(err, r, "cannot hide the new root");
		box->has_hidden_root = true;
	}
	return 0;
}

int mounts_is_root(const struct box *box, int fd, bool *ret_is_root,
		   struct hb_error *err)
{
	struct sys_place place;
	int r;

	r = sys_place(fd, &place);
	if (r < 0)
		return hb_fail(err, r, "cannot tell where a mount is");
	*ret_is_root = place.ino == box->root_place.ino &&
		       place.mnt_id == box->root_place.mnt_id;
	return 0;
}

static int open_or_make(struct box *box, bool is_dir, const char *dest,
			mode_t parent_mode, struct hb_error *err)
{
	if (is_dir)
		return dest_make_dir(box, dest, MOUNTS_DIR_MODE, parent_mode,
				     err);
	return dest_make_file(box, dest, MOUNT_FILE_MODE, parent_mode, err);
}

/* The kernel says EINVAL to a directory on a file as to so much else. */
static int explain_mismatch(const struct box *box, int mount, int fd,
			    const char *dest, struct hb_error *err)
{
	struct stat from, to;

	if (sys_fstat(mount, &from) < 0 || sys_fstat(fd, &to) < 0 ||
	    S_ISDIR(from.st_mode) == S_ISDIR(to.st_mode))
		return 0;
	if (S_ISDIR(from.st_mode))
		return box_fail(box, err, -ENOTDIR, WORD_DEST, dest);
	return box_fail(box, err, -EISDIR, WORD_FILE, dest);
}

/* Whether the root was made empty, so that most places in it are yet to be. */
static bool has_empty_root(const struct box *box)
{
	return box->n_stacked == 0 && !mounts_begin_with_root(box->plan);
}

/* Attaches at `dest` in a root that there is; *ret_is_root: it covers that. */
static int attach_below(struct box *box, int mount, const char *dest,
			mode_t parent_mode, bool *ret_is_root,
			struct hb_error *err)
{
	const char *name = NULL;
	struct stat st;
	bool is_dir;
	int r;

	r = sys_fstat(mount, &st);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the source of '%s'",
			       dest);
	is_dir = S_ISDIR(st.st_mode);
	if (is_dir && has_empty_root(box))
		name = dest_make_top(box, dest, MOUNTS_DIR_MODE);
	/* No link is followed at the end of it. */
	if (name && sys_attach_at(mount, box->root, name) >= 0) {
		*ret_is_root = false;
		return 0;
	}
	for (int i = 1;; i++) {
		auto_fd int fd = -1;
		int why;

		fd = open_or_make(box, is_dir, dest, parent_mode, err);
		if (fd < 0)
			return fd;
		/* A link can lead to the root as well: ask what was found. */
		r = mounts_is_root(box, fd, ret_is_root, err);
		if (r < 0)
			return r;
		r = sys_attach(mount, fd);
		if (r >= 0)
			return 0;
		/* The host replaced the file that was found. */
		if (r == -ENOENT && i < ATTACH_TRIES)
			continue;
		why = explain_mismatch(box, mount, fd, dest, err);
		if (why < 0)
			return why;
		return hb_fail(err, r, "cannot mount on '%s'", dest);
	}
}

int mounts_attach(struct box *box, int mount, const char *dest,
		  mode_t parent_mode, struct hb_error *err)
{
	bool is_root = box->root < 0;
	int keep, r;

	if (is_root) {
		assert(is_root_path(dest));
		r = first_root(box, mount, err);
	} else {
		r = attach_below(box, mount, dest, parent_mode, &is_root, err);
	}
	if (r < 0 || !is_root)
		return r;
	keep = sys_dup_above(mount, 3);
	if (keep < 0)
		return hb_fail(err, keep, "cannot keep the new root");
	return become_root(box, keep, err);
}

int mounts_open_source(const struct box *box, const struct plan_op *op,
		       int flags)
{
	/* An earlier look saw no link; a link made since is refused. */
	return sys_openat2(AT_FDCWD, source_path(box, op->source),
			   O_PATH | flags, 0,
			   op->flags & PLAN_REAL ? K_RESOLVE_NO_SYMLINKS : 0);
}

int op_remount_ro(struct box *box, const struct plan_op *op,
		  struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	fd = dest_open(box, op->dest);
	if (fd < 0)
		return hb_fail(err, fd, "cannot find '%s' to make it read-only",
			       op->dest);
	r = sys_mount_setattr(fd, K_MOUNT_RDONLY, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot make '%s' read-only", op->dest);
	return 0;
}

int op_tmpfs(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	unsigned attr = MOUNTS_TMPFS_ATTR;
	mode_t mode = MOUNTS_DIR_MODE;
	auto_fd int mount = -1;

	if (op->flags & PLAN_HAS_PERMS)
		mode = op->perms;
	if (op->flags & PLAN_NOEXEC)
		attr |= K_MOUNT_NOEXEC;
	mount = mounts_new_tmpfs(mode, op->size, inodes_of(box, op->size), attr,
				 err);
	if (mount < 0)
		return mount;
	return mounts_attach(box, mount, op->dest, dest_parent_mode(mode), err);
}

int op_mqueue(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	auto_fd int mount = -1;

	mount = mounts_new("mqueue", err);
	if (mount < 0)
		return mount;
	return mounts_attach(box, mount, op->dest, MOUNTS_DIR_MODE, err);
}

/* A directory that is mounted on itself is in use, as long as the box lives. */
int op_hold(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	auto_fd int dir = -1;
	auto_fd int mount = -1;

	dir = dest_open(box, op->dest);
	if (dir == -ENOENT || dir == -ENOTDIR)
		return 0;
	if (dir < 0)
		return box_fail(box, err, dir, WORD_DEST, op->dest);
	mount = sys_clone_tree(dir, "", 1);
	if (mount < 0)
		return hb_fail(err, mount, "cannot hold '%s'", op->dest);
	return mounts_attach(box, mount, op->dest, MOUNTS_DIR_MODE, err);
}

/* Whether the operation uses the hidden tmpfs. */
static bool needs_scratch(const struct plan_op *op)
{
	return op->kind == OP_BIND_DATA || op->kind == OP_MASK ||
	       op->flags & PLAN_OWN ||
	       (op->kind == OP_OVERLAY && op->flags & PLAN_OVERLAY_TMP);
}

/*
 * Kernels before 6.15 want the layers of an overlay attached.  There it lies
 * below the new root and is kept out of clones, except while in use.
 */
static int attach_scratch(struct box *box, int mount, struct hb_error *err)
{
	int r;

	r = sys_attach_at(mount, AT_FDCWD, "/");
	if (r < 0)
		return hb_fail(err, r, "cannot attach the scratch space");
	r = sys_mount_hide_from_clones(mount, 1);
	if (r < 0)
		return hb_fail(err, r, "cannot hide the scratch space");
	box->has_attached_scratch = true;
	box->n_stacked++;
	return 0;
}

int mounts_show_scratch(const struct box *box, bool show, struct hb_error *err)
{
	int r;

	if (!box->has_attached_scratch)
		return 0;
	r = sys_mount_hide_from_clones(box->scratch, !show);
	return r < 0 ? hb_fail(err, r, "cannot use the scratch space") : 0;
}

int mounts_clone_scratch(const struct box *box, const char *name,
			 struct hb_error *err)
{
	auto_fd int mount = -1;
	int r;

	/* Shown for the moment of the clone: what is hidden cannot be one. */
	r = mounts_show_scratch(box, true, err);
	if (r < 0)
		return r;
	mount = sys_clone_tree(box->scratch, name, 0);
	r = mounts_show_scratch(box, false, err);
	if (r < 0)
		return r;
	return mount < 0 ? hb_fail(err, mount, "cannot clone '%s'", name)
			 : take_fd(&mount);
}

int mounts_make_scratch(struct box *box, struct hb_error *err)
{
	auto_fd int mount = -1;
	auto_fd int copy = -1;
	uint64_t size = 0;
	size_t n = 0;
	int r;

	for (size_t i = 0; i < box->plan->n_ops; i++) {
		const struct plan_op *op = &box->plan->ops[i];

		if (!needs_scratch(op))
			continue;
		n++;
		if (op->size > size)
			size = op->size;
	}
	if (n == 0)
		return 0;

	mount = mounts_new_tmpfs(0700, size, inodes_of(box, size),
				 MOUNTS_TMPFS_ATTR, err);
	if (mount < 0)
		return mount;
	/* What can be cloned while detached can be a layer, too. */
	copy = sys_clone_tree(mount, "", 0);
	if (copy < 0) {
		r = attach_scratch(box, mount, err);
		if (r < 0)
			return r;
	}
	box->scratch = take_fd(&mount);
	box->scratch_copy = take_fd(&copy);
	return 0;
}

/*
 * A detached mount that is closed takes a wait for all processors.  In the old
 * root it goes with that, which waits once.
 */
static void leave_scratch(struct box *box)
{
	int *const scratch[] = { &box->scratch, &box->scratch_copy, &box->own };

	for (size_t i = 0; i < sizeof(scratch) / sizeof(scratch[0]); i++) {
		if (*scratch[i] < 0)
			continue;
		if (!box->has_attached_scratch)
			(void)sys_attach_at(*scratch[i], AT_FDCWD, "/proc");
		sys_close(*scratch[i]);
		*scratch[i] = -1;
	}
}

int step_private(struct box *box, struct hb_error *err)
{
	int r;

	(void)box;
	r = sys_make_all_private();
	if (r < 0)
		return hb_fail(err, r, "cannot make the mounts private");
	return 0;
}

/*
 * ".." of the root crosses what is mounted on top of it.  If that is not the
 * root itself, the host is still there.
 */
static int check_root(const struct box *box, struct hb_error *err)
{
	auto_fd int above = -1;
	bool is_root = false;
	int r;

	above = sys_openat(AT_FDCWD, "/..", O_PATH | O_DIRECTORY, 0);
	if (above < 0)
		return hb_fail(err, above, "cannot look above the new root");
	r = mounts_is_root(box, above, &is_root, err);
	if (r < 0)
		return r;
	if (!is_root)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "the old root is still there");
	return 0;
}

int step_root(struct box *box, struct hb_error *err)
{
	int r = 0;

	if (box->has_hidden_root)
		r = sys_mount_hide_from_clones(box->root, 0);
	if (r >= 0 && !is_set(box, PLAN_KEEP_ROOT_RW))
		r = sys_mount_setattr(box->root, K_MOUNT_RDONLY, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot restrict the new root");
	r = sys_fchdir(box->root);
	if (r < 0)
		return hb_fail(err, r, "cannot enter the new root");
	leave_scratch(box);
	r = sys_pivot_here(box->n_stacked);
	if (r < 0)
		return hb_fail(err, r, "cannot leave the old root");
	r = check_root(box, err);
	if (r < 0)
		return r;
	sys_close(box->root);
	box->root = -1;
	return 0;
}
