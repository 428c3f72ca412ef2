/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_FILE_H
#define HB_SYS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * System calls on files, with the return value the rest of the tree expects:
 * zero or more, or negated errno.  EINTR never escapes.  Nothing here
 * allocates, prints or knows what a sandbox is.  Wrappers that change durable
 * state begin with fault_here().
 */

/* O_CLOEXEC is implied. */
int sys_openat(int dirfd, const char *path, int flags, mode_t mode);

/*
 * openat2 with `resolve` = K_RESOLVE_* of sys/kernel.h; O_CLOEXEC is implied.
 * -EAGAIN, which means that a rename raced with the walk, is retried a limited
 * number of times and then reported.  So is -EXDEV with K_RESOLVE_BENEATH: it
 * means the same, or that a mount is in the way.
 */
int sys_openat2(int dirfd, const char *path, int flags, mode_t mode,
		uint64_t resolve);

/* All of it or an error; a short write is never reported as success. */
int sys_write_all(int fd, const void *data, size_t len);

/* For what does not block: how many of them could be written now. */
ssize_t sys_write_some(int fd, const void *data, size_t len);

/* The number of bytes read, 0 at the end of the file. */
ssize_t sys_read(int fd, void *buf, size_t size);

/* Reads on to the end, or until `size` bytes are there; returns how many. */
ssize_t sys_read_full(int fd, void *buf, size_t size);

/* Opens, writes all and closes: for the small files of /proc. */
int sys_write_file_at(int dirfd, const char *path, const char *text);

/*
 * Reads a whole small file into `buf` and terminates it.  Returns the length;
 * -EFBIG if it does not fit into `size` - 1 bytes.
 */
ssize_t sys_read_file_at(int dirfd, const char *path, char *buf, size_t size);

int sys_fsync(int fd);

/* An empty regular file, which must not exist yet; opens nothing. */
int sys_make_file_at(int dirfd, const char *path, mode_t mode);
int sys_mkdirat(int dirfd, const char *path, mode_t mode);

/* A directory of our own; with `make` it is made if it is not there. */
int sys_open_dir(int dirfd, const char *name, bool make);
int sys_symlinkat(const char *target, int dirfd, const char *path);
int sys_renameat(int from, const char *old, int to, const char *name);
int sys_unlinkat(int dirfd, const char *path, int flags);
int sys_fchmod(int fd, mode_t mode);

/* Also of an O_PATH descriptor. */
int sys_chmod_fd(int fd, mode_t mode);

/* The target, terminated; -ENAMETOOLONG if it does not fit. */
ssize_t sys_readlinkat(int dirfd, const char *path, char *buf, size_t size);

int sys_fstat(int fd, struct stat *ret_st);
int sys_fstatat(int dirfd, const char *path, struct stat *ret_st, int flags);

/* An object as seen through one mount. */
struct sys_place {
	uint64_t ino, mnt_id;
};
int sys_place(int fd, struct sys_place *ret_place);

/* Whether `fd` is the root of the mount that it lies in; if unknown, true. */
bool sys_is_mount_root(int fd);

int sys_faccessat(int dirfd, const char *path, int mode);
int sys_fchdir(int fd);
int sys_chdir(const char *path);
ssize_t sys_getcwd(char *buf, size_t size);

/*
 * Read lock on some bytes, without waiting: -EAGAIN.  It goes with the last
 * descriptor of this opening, and other openings of this process keep theirs.
 */
int sys_read_lock_range(int fd, uint64_t start, uint64_t length);

/* Read lock on the whole file, without waiting. */
int sys_read_lock(int fd);

/*
 * 1: another process holds a lock on part of the range.  `*ret_pid` is that
 * process, or 0 if it cannot be named from here.  0: no process does.
 */
int sys_lock_holder(int fd, uint64_t start, uint64_t length, pid_t *ret_pid);

/*
 * The lowest descriptor above `floor` other than `except`, by /proc/self/fd;
 * -ENOENT if there is none, or no /proc.
 */
int sys_find_fd_above(int floor, int except);

/* 1: open, 0: not. */
int sys_fd_is_open(int fd);

/* How it was opened: O_RDONLY, O_WRONLY or O_RDWR, O_PATH and the rest. */
int sys_fd_flags(int fd);

/* Where the next read or write is; sys_seek() goes there. */
int64_t sys_tell(int fd);

/* Whether the file system, as mounted where `fd` is, refuses writes. */
bool sys_is_read_only(int fd);
int sys_set_cloexec(int fd, int on);
bool sys_has_cloexec(int fd);
int sys_dup_above(int fd, int lowest);

/* `to` becomes another name of `fd`, and stays open over an exec. */
int sys_dup_to(int fd, int to);

/* [0] for reading, [1] for writing; close-on-exec. */
int sys_pipe(int ret_fds[2]);
mode_t sys_umask(mode_t mask);
void sys_close(int fd);

#endif
