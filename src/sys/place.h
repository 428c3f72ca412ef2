/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_PLACE_H
#define HB_SYS_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * Where something lies, when it is, and who holds it: what the store asks of
 * the host.  Same conventions as sys/file.h.
 */

/* A number for the mount that `fd` was opened through; this boot only. */
int sys_mount_id(int fd, uint64_t *ret_id);

/*
 * Whether an object can surely be moved from one of two directories to the
 * other.  That takes one mount, a file system known to be divided by projects
 * alone, and one project.  If not, only a trial tells.
 */
bool sys_is_one_place(int a, int b);

/* Whether what is made in the directory is encrypted by the file system. */
bool sys_is_encrypted(int fd);

/*
 * The path of what `fd` refers to, as the kernel knows it: absolute, without
 * links.  -ENOENT if it has none any more.
 */
ssize_t sys_fd_path(int fd, char *buf, size_t size);

/* A file without a name in `dirfd`, or -errno: never falls back to a name. */
int sys_tmpfile(int dirfd);

/* A file in memory with this content, sealed against changes. */
int sys_sealed_file(const void *data, size_t size);

/* One without a name that takes no disk. */
int sys_memory_file(void);

/* Gives what `fd` refers to, which has no name yet, this one. */
int sys_name_file(int fd, int dirfd, const char *name);

/* Sets its times to now. */
int sys_touch(int fd);

/* The overlay's mark for "nothing is here". */
int sys_make_whiteout(int dirfd, const char *name);

struct timespec sys_now(void);
void sys_pause(long milliseconds);
void sys_pause_us(long microseconds);

/*
 * Touches a file until the clock that stamps files has moved on, and gives the
 * time after that.  Since Linux 6.13 a time that was read is not given out
 * again; before, that is the next tick.  -ETIME: not after so many tries, one
 * in a millisecond.
 */
int sys_pass_tick(int fd, int tries, struct timespec *ret_now);
int sys_random(void *buf, size_t size);

#endif
