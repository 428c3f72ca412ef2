/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_GITTREE_H
#define HB_GIT_GITTREE_H

#include "git/gitobject.h"

/*
 * The entries of one tree object.  The writer is hostile: nothing is allocated,
 * and every length is checked.  A name has at least one byte; otherwise it may
 * be anything, also "..", ".git" or a name with slashes.  The order of the
 * entries is not checked.
 */

/* The modes that git knows; it takes every other for one of these. */
enum gittree_mode {
	GITTREE_FILE = 0100644,
	GITTREE_PROGRAM = 0100755,
	GITTREE_LINK = 0120000,
	GITTREE_MODULE = 0160000, /* a commit of another repository */
	GITTREE_DIR = 0040000,
};

enum gittree_mode gittree_mode(unsigned mode);

struct gittree_entry {
	enum gittree_mode mode;
	const char *name; /* in the tree's bytes, with a NUL */
	size_t name_len;
	const char *id; /* `id_size` bytes, in binary */
};

struct gittree {
	const char *at, *end;
	size_t id_size; /* 20: SHA-1, 32: SHA-256 */
};

/* Borrows the bytes of the object; its name has so many digits. */
void gittree_open(struct gittree *tree, const struct git_object *object,
		  size_t digits);

/* 1: an entry, 0: that was the last, -EBADMSG: git would not read it. */
int gittree_next(struct gittree *tree, struct gittree_entry *ret_entry);

/* The name of the entry's object. */
void gittree_id(const struct gittree *tree, const struct gittree_entry *entry,
		struct git_id *ret_id);

#endif
