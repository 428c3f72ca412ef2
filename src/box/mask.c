/* SPDX-License-Identifier: Apache-2.0 */
#include "box/mask.h"

#include "base/auto.h"
#include "base/path.h"
#include "box/mounts.h"
#include "box/operations.h"
#include "box/overlay.h"
#include "box/state.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * Files of ours in the place of the host's, in a directory that is bound.
 *
 * A mount on a file goes away when a program replaces that file from another
 * mount namespace, and a change of /etc/shadow replaces it.  So the files are
 * put into a layer of their own, on top of the directory, in a read-only
 * overlay.  A name in that layer always wins.  The kernel refuses such an
 * overlay if the directory has a mount in it, or is one of too many overlays.
 * Then the files are mounted after all. tests/cli/view.sh
 */

#define OPAQUE "user.overlay.opaque"

static bool is_mask_of(const struct plan_op *mask, const struct plan_op *op)
{
	return mask->kind == OP_MASK && strcmp(mask->base, op->dest) == 0;
}

/*
 * Whether links lead to the mask's place.  What they lead to is masked by its
 * own name, and the link stays one.
 */
static bool is_behind_link(int dir, const char *path)
{
	struct path_part parent = path_dirname(path);
	char name[PATH_MAX];
	auto_fd int fd = -1;

	if (parent.n <= 1)
		return false;
	(void)snprintf(name, sizeof(name), ".%.*s", (int)parent.n, parent.s);
	fd = sys_openat2(dir, name, O_PATH, 0, K_RESOLVE_NO_SYMLINKS);
	return fd == -ELOOP;
}

/*
 * The directory that `path` lies in, below `dir`; made as far as need be.  It
 * is `dir` itself, or what *own holds then.
 */
static int make_parents(int dir, const char *path, const char **ret_name,
			int *own, struct hb_error *err)
{
	struct path_part part, next;
	const char *pos = path;
	int at = dir;

	if (!path_next(&pos, &part))
		return hb_fail(err, -EINVAL, "cannot place the mask '%s'",
			       path);
	while (path_next(&pos, &next)) {
		char name[NAME_MAX + 1];
		int fd, r;

		(void)snprintf(name, sizeof(name), "%.*s", (int)part.n, part.s);
		r = sys_mkdirat(at, name, 0755);
		if (r < 0 && r != -EEXIST)
			return hb_fail(err, r, "cannot make a mask's parent");
		fd = sys_openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (fd < 0)
			return hb_fail(err, fd, "cannot open a mask's parent");
		fd_closep(own);
		at = *own = fd;
		part = next;
	}
	*ret_name = part.s;
	return at;
}

/*
 * Without the mark the directory would have the lower one's content, and only
 * its mode would keep it from being seen.
 */
static int make_closed(int parent, const char *name)
{
	auto_fd int fd = -1;
	int r;

	r = sys_mkdirat(parent, name, 0700);
	if (r < 0)
		return r;
	fd = sys_openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	r = fd < 0 ? fd : sys_set_xattr(fd, OPAQUE, "y", 1);
	return r < 0 ? -EOPNOTSUPP : sys_fchmod(fd, 0);
}

static int add_mask(int layer, const struct plan_op *mask, struct hb_error *err)
{
	auto_fd int own = -1;
	auto_fd int fd = -1;
	const char *name;
	int parent, r;

	parent = make_parents(layer, mask->dest + strlen(mask->base), &name,
			      &own, err);
	if (parent < 0)
		return parent;
	if (mask->flags & PLAN_MASK_DIR)
		return make_closed(parent, name);
	fd = sys_openat(parent, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
			mask->perms);
	if (fd < 0)
		return hb_fail(err, fd, "cannot make the mask for '%s'",
			       mask->dest);
	/* With the mode it was made with: nothing is masked while we mount. */
	r = sys_write_all(fd, mask->source, strlen(mask->source));
	if (r < 0)
		return hb_fail(err, r, "cannot write the mask for '%s'",
			       mask->dest);
	return 0;
}

/* The layer of a bind: a directory in memory. */
static int make_layer(const struct box *box, const struct plan_op *op, int dir,
		      struct hb_error *err)
{
	const struct plan *plan = box->plan;
	auto_fd int layer = -1;
	struct stat st;
	char name[32];
	int r;

	(void)snprintf(name, sizeof(name), "mask.%zu",
		       (size_t)(op - plan->ops));
	/* The root of the result has the mode of this one. */
	r = sys_fstat(dir, &st);
	if (r >= 0)
		r = sys_mkdirat(box->scratch, name, st.st_mode & 0777);
	if (r >= 0)
		r = layer =
			sys_openat(box->scratch, name, O_PATH | O_DIRECTORY, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot make a layer of masks");
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct plan_op *mask = &plan->ops[i];

		if (!is_mask_of(mask, op) ||
		    is_behind_link(dir, mask->dest + strlen(mask->base)))
			continue;
		r = add_mask(layer, mask, err);
		if (r < 0)
			return r;
	}
	return take_fd(&layer);
}

int mask_mount(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	auto_fd int dir = -1;
	auto_fd int layer = -1;
	auto_fd int mount = -1;
	int r;

	if (box->n_masked >= MASKED_MAX)
		return -EOPNOTSUPP;
	dir = mounts_open_source(box, op, O_DIRECTORY);
	if (dir < 0)
		return -EOPNOTSUPP;
	layer = make_layer(box, op, dir, err);
	if (layer < 0)
		return layer;
	r = mounts_show_scratch(box, true, err);
	if (r < 0)
		return r;
	mount = overlay_read_only(dir, layer);
	r = mounts_show_scratch(box, false, err);
	if (r < 0)
		return r;
	if (mount < 0)
		return -EOPNOTSUPP;
	box->masked[box->n_masked++] = op->dest;
	return take_fd(&mount);
}

int op_mask(struct box *box, const struct plan_op *op, struct hb_error *err)
{
	int r;

	for (size_t i = 0; i < box->n_masked; i++)
		if (strcmp(box->masked[i], op->base) == 0)
			return 0;
	if (!(op->flags & PLAN_MASK_DIR))
		return op_bind_data(box, op, err);
	r = op_tmpfs(box, op, err);
	return r < 0 ? r : op_remount_ro(box, op, err);
}
