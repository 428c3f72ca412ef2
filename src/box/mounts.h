/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/mount.h"
#ifndef HB_BOX_MOUNTS_H
#define HB_BOX_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct box;
struct plan;
struct plan_op;
struct hb_error;

#define MOUNTS_TMPFS_ATTR (K_MOUNT_NOSUID | K_MOUNT_NODEV)
#define MOUNTS_DIR_MODE	  0755

/* Whether the plan's first operation mounts the root. */
bool mounts_begin_with_root(const struct plan *plan);

/* box->scratch, if an operation of the plan needs it. */
int mounts_make_scratch(struct box *box, struct hb_error *err);

/* O_PATH, and `flags`, of what a bind shows; -errno without words. */
int mounts_open_source(const struct box *box, const struct plan_op *op,
		       int flags);

/*
 * A detached tmpfs; `size` 0 is no limit.  Attributes as in sys/mount.h.
 */
int mounts_new_tmpfs(mode_t mode, uint64_t size, uint64_t inodes, unsigned attr,
		     struct hb_error *err);

/* A detached file system of `type`: nosuid, nodev, noexec. */
int mounts_new(const char *type, struct hb_error *err);

/*
 * Around the use of something in box->scratch as the source of a mount: it is
 * kept out of clones at all other times.
 */
int mounts_show_scratch(const struct box *box, bool show, struct hb_error *err);

/* A detached mount of the entry `name` of box->scratch. */
int mounts_clone_scratch(const struct box *box, const char *name,
			 struct hb_error *err);

/*
 * Attaches `mount` at `dest`, which is made if it is missing: a directory, or
 * a file if the mount's root is one.  `mount` stays the caller's to close; when
 * `dest` is the root, box->root becomes a descriptor of its own for it.
 */
int mounts_attach(struct box *box, int mount, const char *dest,
		  mode_t parent_mode, struct hb_error *err);

/* Whether `fd` is the box's root, found by any path. */
int mounts_is_root(const struct box *box, int fd, bool *ret_is_root,
		   struct hb_error *err);

#endif
