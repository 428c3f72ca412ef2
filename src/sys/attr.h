/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/dir.h"
#ifndef HB_SYS_ATTR_H
#define HB_SYS_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * System calls that look at objects, their extended attributes, the names in a
 * directory and the bytes of a file; same conventions as sys/file.h.
 */

struct sys_attr {
	mode_t mode; /* with the type */
	uid_t uid;
	gid_t gid;
	uint64_t dev, ino, size, nlink;
	uint64_t stored; /* bytes on the disk: less than `size` with holes */
	uint32_t rdev_major, rdev_minor;
	struct timespec mtime, ctime, btime; /* btime zero: not told */
	bool is_fixed; /* immutable or append-only: it cannot be removed */
};

/* `name` is not followed; "" is the descriptor itself, O_PATH ones too. */
int sys_attr_at(int dirfd, const char *name, struct sys_attr *ret_attr);

/* Whether `name` in `dirfd` is the object that `fd` is open for. */
bool sys_is_object(int dirfd, const char *name, int fd);

/*
 * Extended attributes of an open descriptor, which may be O_PATH and need not
 * be readable.  The list is names with a NUL each.  -ERANGE: it does not fit.
 * A file system without them has an empty list.
 */
ssize_t sys_list_xattrs(int fd, char *buf, size_t size);
/* The same of a name that is not followed. */
ssize_t sys_list_xattrs_at(int dirfd, const char *name, char *buf, size_t size);
ssize_t sys_get_xattr(int fd, const char *name, void *buf, size_t size);

/*
 * The same of a file that is open for reading, also where /proc is of another
 * pid namespace than ours.
 */
ssize_t sys_flist_xattrs(int fd, char *buf, size_t size);
ssize_t sys_fget_xattr(int fd, const char *name, void *buf, size_t size);

/* The result of one call, for a caller that knows the size. */
ssize_t sys_pread(int fd, void *buf, size_t size, uint64_t offset);

/*
 * All of it, or up to the end of the file: the number of bytes read.
 */
ssize_t sys_pread_full(int fd, void *buf, size_t size, uint64_t offset);
int sys_pwrite_all(int fd, const void *data, size_t len, uint64_t offset);

/*
 * Where the next data begins at or after `offset`; `end` if there is none
 * before.  A file system that does not know says `offset`.
 */
uint64_t sys_next_data(int fd, uint64_t offset, uint64_t end);

int sys_truncate(int fd, uint64_t size);

/* Blocks for `size` bytes at the offset; the size of the file stays. */
int sys_make_room(int fd, uint64_t offset, uint64_t size);

/*
 * A file without a name in `dirfd`, for reading and writing: O_TMPFILE, or a
 * named file, unlinked at once.
 */
int sys_unnamed_file(int dirfd);

uid_t sys_effective_uid(void);
gid_t sys_effective_gid(void);

/* Our supplementary groups: how many, at most `size` of them told. */
int sys_groups(gid_t *ret_groups, size_t size);

#endif
