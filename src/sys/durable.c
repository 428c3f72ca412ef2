/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/durable.h"

#include "base/auto.h"
#include "sys/call.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define K_FICLONE	0x40049409UL
#define K_OVERLAY_MAGIC 0x794c7630L
#define K_TMPFS_MAGIC	0x01021994L
#define K_RAMFS_MAGIC	0x858458f6L
#define LOCK_PAUSE	20 /* ms */

int sys_renameat2(int from, const char *old, int to, const char *name,
		  unsigned flags)
{
	int r = fault_here("renameat2");

	if (r < 0)
		return r;
	if (flags && fault_is_rename_plain())
		return -EINVAL;
	return (int)fault_after(
		UNINTERRUPTED("renameat2", syscall(SYS_renameat2, from, old, to,
						   name, flags)));
}

int sys_linkat(int from, const char *old, int to, const char *name)
{
	return (int)DURABLE("linkat", linkat(from, old, to, name, 0));
}

int sys_syncfs(int fd)
{
	return (int)DURABLE("syncfs", syncfs(fd));
}

int sys_sync_range(int fd)
{
	return RESULT(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
}

int sys_write_back(int fd)
{
	return RESULT(sync_file_range(fd, 0, 0,
				      SYNC_FILE_RANGE_WAIT_BEFORE |
					      SYNC_FILE_RANGE_WRITE |
					      SYNC_FILE_RANGE_WAIT_AFTER));
}

int sys_clone_file(int to, int from)
{
	return (int)DURABLE("clone", ioctl(to, K_FICLONE, from));
}

ssize_t sys_copy_range(int from, int to, uint64_t offset, size_t len)
{
	loff_t in = (loff_t)offset, out = (loff_t)offset;
	int r = fault_here("copy_file_range");

	if (r < 0)
		return r;
	/* Short is what the caller has to expect; interrupted, it goes on. */
	for (;;) {
		ssize_t n = fault_io("copy_file_range", &len)
				    ? -EINTR
				    : RESULT(copy_file_range(from, &in, to,
							     &out, len, 0));

		if (n != -EINTR)
			return fault_after(n);
	}
}

uint64_t sys_next_hole(int fd, uint64_t offset, uint64_t end)
{
	off_t at = lseek(fd, (off_t)offset, SEEK_HOLE);

	return at < 0 || (uint64_t)at > end ? end : (uint64_t)at;
}

int sys_seek(int fd, int64_t offset)
{
	return lseek(fd, (off_t)offset, SEEK_SET) < 0 ? -errno : 0;
}

int sys_set_mtime_at(int dirfd, const char *name, struct timespec mtime)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, mtime };

	return (int)DURABLE("utimensat",
			    utimensat(dirfd, name, times,
				      AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
}

int sys_chown_at(int dirfd, const char *name, uid_t uid, gid_t gid)
{
	return (int)DURABLE("fchownat",
			    fchownat(dirfd, name, uid, gid,
				     AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
}

int sys_mknod_at(int dirfd, const char *name, mode_t mode)
{
	return (int)DURABLE("mknodat", mknodat(dirfd, name, mode, 0));
}

/* The f* forms refuse O_PATH descriptors; the magic link is the object. */
static const char *magic_link(int fd, char *buf, size_t size)
{
	(void)snprintf(buf, size, "/proc/self/fd/%d", fd);
	return buf;
}

int sys_set_xattr(int fd, const char *name, const void *value, size_t size)
{
	char at[32];

	return (int)DURABLE("setxattr", setxattr(magic_link(fd, at, sizeof(at)),
						 name, value, size, 0));
}

int sys_fset_xattr(int fd, const char *name, const void *value, size_t size)
{
	return (int)DURABLE("fsetxattr", fsetxattr(fd, name, value, size, 0));
}

int sys_remove_xattr(int fd, const char *name)
{
	char at[32];

	return (int)DURABLE("removexattr",
			    removexattr(magic_link(fd, at, sizeof(at)), name));
}

int sys_obstacle_at(int dirfd, const char *name, struct sys_obstacle *ret)
{
	struct k_statx x = { 0 };

	if (syscall(SYS_statx, dirfd, name,
		    AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		    K_STATX_INO | K_STATX_MNT_ID, &x) < 0)
		return -errno;
	*ret = (struct sys_obstacle){
		.dev = makedev(x.dev_major, x.dev_minor),
		.mount = x.mnt_id,
		.is_immutable = x.attributes & K_STATX_ATTR_IMMUTABLE,
		.is_append_only = x.attributes & K_STATX_ATTR_APPEND,
	};
	return 0;
}

int sys_can_change_dir(int fd)
{
	return RESULT(faccessat(fd, ".", W_OK | X_OK, AT_EACCESS));
}

int sys_space(int fd, struct sys_space *ret)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	*ret = (struct sys_space){
		/* One without a limit has no size either. */
		.free_bytes = fs.f_blocks == 0 ? UINT64_MAX
					       : (uint64_t)fs.f_bavail *
							 (uint64_t)fs.f_bsize,
		.size_bytes = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize,
		.is_overlay =
			fs.f_type == K_OVERLAY_MAGIC || fault_is_overlay(),
		.is_memory = fs.f_type == K_TMPFS_MAGIC ||
			     fs.f_type == K_RAMFS_MAGIC,
	};
	return 0;
}

int sys_flock(int fd)
{
	return RESULT(flock(fd, LOCK_EX | LOCK_NB));
}

int sys_lock_file(int dirfd, const char *name, int flags, long wait)
{
	auto_fd int fd = -1;
	int r;

	fd = sys_openat(dirfd, name, flags | O_RDWR | O_NOFOLLOW | O_NONBLOCK,
			0600);
	r = fd < 0 ? fd : sys_flock(fd);
	for (; r == -EWOULDBLOCK && wait > 0; wait -= LOCK_PAUSE) {
		sys_pause(LOCK_PAUSE);
		r = sys_flock(fd);
	}
	return r < 0 ? r : take_fd(&fd);
}

int sys_flock_shared(int fd)
{
	int r;

	do
		r = RESULT(flock(fd, LOCK_SH));
	while (r == -EINTR);
	return r;
}
