/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_CARRY_H
#define HB_TREE_CARRY_H

#include "tree/entry.h"
#include "tree/xattrs.h"

struct buf;

/*
 * What a copy takes along: bytes, holes, extended attributes, owner, mode and
 * time.  A transaction copies only what it may not move.
 */
#define CARRY_XATTRS_MAX ((size_t)1 << 20)

enum carry_flag {
	CARRY_FROM_LAYER = 1 << 0, /* marks stay, escaped ones lose a prefix */
	CARRY_CAPABILITIES = 1 << 1,
	CARRY_TO_LAYER = 1 << 2, /* what could be taken for a mark is escaped */
	/* The source is not ours: what we may not read stays unread. */
	CARRY_FROM_OTHERS = 1 << 3,
	/*
	 * A user without the right to change the owner keeps it; the group as
	 * far as allowed.
	 */
	CARRY_OWN = 1 << 4,
	CARRY_TO_BASE = 1 << 5,	 /* names that overlays reserve stay behind */
	CARRY_RESERVED = 1 << 6, /* those names, and nothing else */
};

/*
 * Adds the attributes that we carry (user.*, ACLs) to a list for
 * xattr_list_next().  `e` describes `fd`, which may be O_PATH.
 */
int carry_read_xattrs(int fd, const struct entry *e, unsigned flags,
		      struct buf *out, struct hb_error *err);

/*
 * Makes the attributes that we carry be the ones of the list.  Returns
 * -errno; those that are right already are not touched.
 */
int carry_set_xattrs(int fd, const struct xattr_list *list);

/* 1: they are exactly these; 0: they are not. */
int carry_has_xattrs(int fd, const struct xattr_list *list);

/*
 * Copies so many bytes to an empty file, by the shortest way that there is: a
 * clone, inside of the kernel, or by hand.  -EIO: `from` has fewer.
 */
int carry_bytes(int from, int to, uint64_t size);

/* A name in a layer or a tree, and the attributes that its copy is to have. */
struct carry {
	int from;
	const char *name;
	const struct entry *entry;
	unsigned flags; /* enum carry_flag */
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

/*
 * Makes `name` in `to` a copy; of a directory an empty one.  Nothing may be
 * there before.  What a failure leaves is the caller's to remove.
 */
int carry_copy(const struct carry *c, int to, const char *name,
	       struct hb_error *err);

/* Gives `fd`, of the same type, the attributes that a copy would have. */
int carry_attributes(const struct carry *c, int fd, struct hb_error *err);

#endif
