/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_OP_KINDS_H
#define HB_PLAN_OP_KINDS_H

#include <sys/types.h>

/*
 * The operations of a plan, one row each: what the plan's reader, its printer,
 * landlock and the mounts have to know of a kind.  box/operations.c runs
 * op_FUNCTION() for it.
 *
 *	id		OP_ID
 *	name		in the plan's text
 *	members		of struct plan_op that it uses: enum plan_op_member
 *	traits		enum plan_op_trait
 *	perms		bubblewrap's, where no --perms came before; 0: none
 *	function
 */
enum plan_op_member {
	HAS_SOURCE = 1 << 0,
	HAS_DEST = 1 << 1,
	HAS_FD = 1 << 2,
	HAS_PERMS = 1 << 3,
	HAS_SIZE = 1 << 4,
	HAS_LAYERS = 1 << 5,
	HAS_CONTENT = 1 << 6, /* source with PLAN_TEXT, fd without */
};

enum plan_op_trait {
	OP_IS_NOTHING = 0,	 /* none of these */
	OP_IS_TREE = 1 << 0,	 /* on "/" it is the root */
	OP_IS_CLONE = 1 << 1,	 /* of a host directory with all below it */
	OP_IS_WRITABLE = 1 << 2, /* unless its flags say otherwise */
	OP_IS_HOST = 1 << 3,	 /* the host's files are seen in it */
};

/* clang-format off */
#define PLAN_OPS(ROW) \
	/* source at dest, with everything mounted below it */ \
	ROW(BIND, "bind", HAS_SOURCE | HAS_DEST, OP_IS_TREE | OP_IS_CLONE | OP_IS_WRITABLE | OP_IS_HOST, 0, bind) \
	/* the same for the object behind `fd` */ \
	ROW(BIND_FD, "bind-fd", HAS_FD | HAS_DEST, OP_IS_TREE | OP_IS_CLONE | OP_IS_WRITABLE, 0, bind_fd) \
	/* that mount alone becomes read-only */ \
	ROW(REMOUNT_RO, "remount-ro", HAS_DEST, OP_IS_NOTHING, 0, remount_ro) \
	/* layers, and an upper unless PLAN_OVERLAY_RO; perms of one in memory */ \
	ROW(OVERLAY, "overlay", HAS_LAYERS | HAS_DEST, OP_IS_TREE | OP_IS_WRITABLE | OP_IS_HOST, 0, overlay) \
	/* procfs of the box's pid namespace, else the host's */ \
	ROW(PROC, "proc", HAS_DEST, OP_IS_NOTHING, 0, proc) \
	/* a minimal /dev */ \
	ROW(DEV, "dev", HAS_DEST, OP_IS_WRITABLE, 0, dev) \
	/* size 0: no limit */ \
	ROW(TMPFS, "tmpfs", HAS_DEST | HAS_PERMS | HAS_SIZE, OP_IS_TREE | OP_IS_WRITABLE, 0755, tmpfs) \
	ROW(MQUEUE, "mqueue", HAS_DEST, OP_IS_WRITABLE, 0, mqueue) \
	/* an existing directory is left alone */ \
	ROW(DIR, "dir", HAS_DEST | HAS_PERMS, OP_IS_NOTHING, 0755, dir) \
	/* content of `fd` or of `source` */ \
	ROW(FILE, "file", HAS_CONTENT | HAS_DEST | HAS_PERMS, OP_IS_NOTHING, 0666, file) \
	/* the same, as a file of its own mounted at dest */ \
	ROW(BIND_DATA, "bind-data", HAS_CONTENT | HAS_DEST | HAS_PERMS, OP_IS_WRITABLE, 0600, bind_data) \
	/* the same, part of a directory that is bound at `base` */ \
	ROW(MASK, "mask", HAS_CONTENT | HAS_DEST | HAS_PERMS, OP_IS_NOTHING, 0, mask) \
	/* the host's file is not there: part of the overlay in memory at `base` */ \
	ROW(GONE, "gone", HAS_DEST, OP_IS_NOTHING, 0, gone) \
	/* source is the target's text, dest the link */ \
	ROW(SYMLINK, "symlink", HAS_SOURCE | HAS_DEST, OP_IS_NOTHING, 0, symlink) \
	/* dest must exist */ \
	ROW(CHMOD, "chmod", HAS_DEST | HAS_PERMS, OP_IS_NOTHING, 0, chmod) \
	/* the directory at dest cannot be renamed or removed; none is no error */ \
	ROW(HOLD, "hold", HAS_DEST, OP_IS_NOTHING, 0, hold) \
	/* source is the name; needs PLAN_NS_UTS */ \
	ROW(HOSTNAME, "hostname", HAS_SOURCE, OP_IS_NOTHING, 0, hostname)

#define PLAN_OP_ID(id, ...) OP_##id,
enum plan_op_kind {
	OP_UNKNOWN, /* no operation */
	PLAN_OPS(PLAN_OP_ID)
	OP_END /* one past the last */
};
#undef PLAN_OP_ID
/* clang-format on */

struct plan_kind {
	const char *name;
	unsigned members, traits;
	mode_t perms;
};

extern const struct plan_kind plan_kinds[OP_END];

#endif
