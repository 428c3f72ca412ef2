/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_ACCESS_H
#define HB_TREE_ACCESS_H

#include "tree/entry.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Opens and reads objects of hostile trees: never through a link, never across
 * a mount, never an object that could block.  It goes one component at a time,
 * because a whole path may be longer than the kernel takes.
 *
 * The agent may have taken the owner's own permissions away.  In a layer, which
 * is ours, they are given back for as long as needed; in a base never.
 */

/*
 * Opens `name`, which `entry` describes, for reading.  -HB_E_BUSY: it is
 * another object by now.  With `in_layer`, an unreadable file of our own is
 * made readable for the length of the call.
 */
int access_open_file(int dirfd, const char *name, const struct entry *entry,
		     bool in_layer, struct hb_error *err);

/* The same, but the reader has to check whether it is still that object. */
int access_open_quick(int dirfd, const char *name, const struct entry *entry,
		      bool in_layer, struct hb_error *err);

/*
 * The target of the link `name`, which `entry` describes; its length is
 * returned.  -HB_E_BUSY: it is another object by now.
 */
ssize_t access_read_target(int dirfd, const char *name,
			   const struct entry *entry, char *buf, size_t size,
			   struct hb_error *err);

/*
 * Opens the regular file that a base has under that name.  -ENOENT: there is
 * none, or something else.
 */
int access_open_regular(int dirfd, const char *name, uint64_t *ret_size);

/*
 * As access_open_file() for a directory.  A directory of a layer that its owner
 * cannot list or search gets u+rx, and `*ret_was_closed` says so.  The caller
 * then restores the mode of `entry` with access_close_again().
 */
int access_open_dir(int dirfd, const char *name, const struct entry *entry,
		    bool in_layer, bool *ret_was_closed, struct hb_error *err);
int access_close_again(int fd, const struct entry *entry, struct hb_error *err);

/* A descriptor for looking names up in, which needs no read permission. */
int access_open_dir_path(int dirfd, const char *name, const struct entry *entry,
			 struct hb_error *err);

/*
 * Opens a directory below `root` by a path of any length; "" is `root` itself.
 * `flags` are O_PATH or O_RDONLY.
 */
int access_open_below(int root, const char *path, size_t len, int flags,
		      struct hb_error *err);

/*
 * Whether that failed because there is no such directory.  Below a link or a
 * file there is none.
 */
static inline bool access_is_gone(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP;
}

/* getxattr of an object in a layer that its owner may not read: see above. */
ssize_t access_get_xattr(int fd, const struct entry *entry, const char *name,
			 void *buf, size_t size);

#endif
