/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_DURABLE_H
#define HB_SYS_DURABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * The calls that move, link, copy and sync: what a transaction is made of.
 * Same conventions as sys/file.h.  A `name` is one component and never
 * followed; where attributes are set, "" is the descriptor itself.
 */

/* -EINVAL or -ENOSYS: the file system knows no flags. */
enum rename_flags {
	RENAME_KEEP = 1, /* -EEXIST rather than replace */
	RENAME_SWAP = 2, /* the two change places */
};
int sys_renameat2(int from, const char *old, int to, const char *name,
		  unsigned flags);

/* A symbolic link is linked itself. */
int sys_linkat(int from, const char *old, int to, const char *name);

int sys_syncfs(int fd);

/* Starts writing the file's pages back and does not wait. */
int sys_sync_range(int fd);

/*
 * The same, and waits for it.  A program that has the file mapped then has to
 * ask the kernel before it writes again, which changes the file's time.
 */
int sys_write_back(int fd);

/* Makes `to` share the extents of `from`; fails where that is not possible. */
int sys_clone_file(int to, int from);

/* The number of bytes copied in the kernel, at the same offset in both. */
ssize_t sys_copy_range(int from, int to, uint64_t offset, size_t len);

/* Where the data at `offset` ends, at most `end`. */
uint64_t sys_next_hole(int fd, uint64_t offset, uint64_t end);

/* Where the next read of a file or directory begins. */
int sys_seek(int fd, int64_t offset);

/* The time of access stays. */
int sys_set_mtime_at(int dirfd, const char *name, struct timespec mtime);
int sys_chown_at(int dirfd, const char *name, uid_t uid, gid_t gid);

/* A fifo or a socket. */
int sys_mknod_at(int dirfd, const char *name, mode_t mode);

/* Of any descriptor, also an O_PATH one. */
int sys_set_xattr(int fd, const char *name, const void *value, size_t size);
int sys_remove_xattr(int fd, const char *name);

/* Of a file that is open: sys_fget_xattr(). */
int sys_fset_xattr(int fd, const char *name, const void *value, size_t size);

/* What stands against moving an object, apart from modes. */
struct sys_obstacle {
	uint64_t dev;
	uint64_t mount; /* this boot only */
	bool is_immutable;
	bool is_append_only;
};
int sys_obstacle_at(int dirfd, const char *name, struct sys_obstacle *ret);

/* 0: we may make and remove names in this directory, by its mode. */
int sys_can_change_dir(int fd);

struct sys_space {
	uint64_t free_bytes; /* for us, not for root */
	uint64_t size_bytes; /* 0: without a limit */
	bool is_overlay;     /* directories cannot be renamed there */
	bool is_memory;	     /* nothing is ever written back there */
};
int sys_space(int fd, struct sys_space *ret);

/* Exclusive, without waiting: -EWOULDBLOCK. */
int sys_flock(int fd);

/*
 * Opens a file, or makes it with O_CREAT in `flags`, and takes its lock.  Waits
 * so many milliseconds for the lock: -EWOULDBLOCK.
 */
int sys_lock_file(int dirfd, const char *name, int flags, long wait);

/* Shared, and waits for an exclusive holder. */
int sys_flock_shared(int fd);

#endif
