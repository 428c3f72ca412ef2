/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_ORIGIN_H
#define HB_TREE_ORIGIN_H

#include "tree/entry.h"

/*
 * The mark of a copy-up belongs to the inode, and so to each of its names, also
 * to later names that the base never had.  In a layer that we write ourselves
 * it says which names it is about; the kernel's says nothing of names.
 */

/*
 * Marks `fd`, of type file or directory and writable for us, as copied up from
 * what lay below at the path.  With `is_shared` it has other names, and those
 * that the mark speaks of already stay in it.
 */
int origin_mark(int fd, const char *path, bool is_shared);

/*
 * Whether the mark of `name` in `dir`, which `entry` has, may be about this
 * path.  0: it is about other names; 1: it is, or does not say.
 */
int origin_is_of(int dir, const char *name, const struct entry *entry,
		 const char *path);

#endif
