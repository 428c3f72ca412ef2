/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/attr.h"

#include "base/auto.h"
#include "sys/call.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define STATX_WANTED 0x00000fffU /* the basic ones and the birth time */
#define STATX_BTIME_ 0x00000800U

/* Where struct k_statx has them: pairs of seconds, and nanoseconds. */
enum {
	TIME_BIRTH = 2,
	TIME_CHANGE = 4,
	TIME_MODIFY = 6,
};

static struct timespec time_of(const struct k_statx *x, int at)
{
	return (struct timespec){
		.tv_sec = (time_t)(int64_t)x->times[at],
		.tv_nsec = (long)(x->times[at + 1] & UINT32_MAX),
	};
}

/* The kernel's unit of blocks, for every file system. */
#define STAT_BLOCK 512

int sys_attr_at(int dirfd, const char *name, struct sys_attr *ret_attr)
{
	struct k_statx x = { 0 };

	if (syscall(SYS_statx, dirfd, name,
		    AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		    STATX_WANTED, &x) < 0)
		return -errno;
	*ret_attr = (struct sys_attr){
		.mode = x.mode,
		.uid = x.uid,
		.gid = x.gid,
		.dev = makedev(x.dev_major, x.dev_minor),
		.ino = x.ino,
		.size = x.size,
		.stored = x.blocks * STAT_BLOCK,
		.nlink = x.nlink,
		.rdev_major = x.rdev_major,
		.rdev_minor = x.rdev_minor,
		.mtime = time_of(&x, TIME_MODIFY),
		.ctime = time_of(&x, TIME_CHANGE),
		.is_fixed = x.attributes &
			    (K_STATX_ATTR_IMMUTABLE | K_STATX_ATTR_APPEND),
	};
	if (x.mask & STATX_BTIME_)
		ret_attr->btime = time_of(&x, TIME_BIRTH);
	return 0;
}

bool sys_is_object(int dirfd, const char *name, int fd)
{
	struct sys_attr there = { 0 }, here = { 0 };

	return sys_attr_at(dirfd, name, &there) >= 0 &&
	       sys_attr_at(fd, "", &here) >= 0 && there.ino == here.ino &&
	       there.dev == here.dev;
}

/*
 * The f* forms refuse O_PATH descriptors, and the object must not be opened.
 * The magic link names the very object, a symbolic link included.
 */
static const char *magic_link(int fd, char *buf, size_t size)
{
	(void)snprintf(buf, size, "/proc/self/fd/%d", fd);
	return buf;
}

ssize_t sys_list_xattrs(int fd, char *buf, size_t size)
{
	char name[32];
	ssize_t n = listxattr(magic_link(fd, name, sizeof(name)), buf, size);

	if (n < 0 && errno == ENOTSUP)
		return 0;
	return n < 0 ? -errno : n;
}

ssize_t sys_list_xattrs_at(int dirfd, const char *name, char *buf, size_t size)
{
	auto_fd int fd = -1;
	long n;

	n = syscall(SYS_listxattrat, dirfd, name, AT_SYMLINK_NOFOLLOW, buf,
		    size);
	if (n >= 0)
		return (ssize_t)n;
	if (errno == ENOTSUP)
		return 0;
	/* Before 6.13; some filters answer EPERM to what they do not know. */
	if (errno != ENOSYS && errno != EPERM)
		return -errno;
	fd = sys_openat(dirfd, name, O_PATH | O_NOFOLLOW, 0);
	return fd < 0 ? fd : sys_list_xattrs(fd, buf, size);
}

ssize_t sys_get_xattr(int fd, const char *name, void *buf, size_t size)
{
	char link[32];

	return RESULT(
		getxattr(magic_link(fd, link, sizeof(link)), name, buf, size));
}

ssize_t sys_flist_xattrs(int fd, char *buf, size_t size)
{
	ssize_t n = flistxattr(fd, buf, size);

	if (n < 0 && errno == ENOTSUP)
		return 0;
	return n < 0 ? -errno : n;
}

ssize_t sys_fget_xattr(int fd, const char *name, void *buf, size_t size)
{
	return RESULT(fgetxattr(fd, name, buf, size));
}

ssize_t sys_pread(int fd, void *buf, size_t size, uint64_t offset)
{
	return UNINTERRUPTED("pread", pread(fd, buf, size, (off_t)offset));
}

ssize_t sys_pread_full(int fd, void *buf, size_t size, uint64_t offset)
{
	char *p = buf;
	size_t used = 0;

	while (used < size) {
		size_t part = size - used;
		ssize_t n;

		if (fault_io("pread_full", &part))
			continue;
		n = sys_pread(fd, p + used, part, offset + used);
		if (n < 0)
			return n;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

int sys_pwrite_all(int fd, const void *data, size_t len, uint64_t offset)
{
	const char *p = data;
	int r;

	r = fault_here("pwrite");
	if (r < 0)
		return r;

	while (len > 0) {
		size_t part = len;
		ssize_t n =
			fault_io("pwrite", &part)
				? -EINTR
				: RESULT(pwrite(fd, p, part, (off_t)offset));

		if (n == -EINTR)
			continue;
		if (n < 0)
			return (int)n;
		/* No file does that; an object that did would do it again. */
		if (n == 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return (int)fault_after(0);
}

uint64_t sys_next_data(int fd, uint64_t offset, uint64_t end)
{
	off_t at = lseek(fd, (off_t)offset, SEEK_DATA);

	if (at < 0)
		return errno == ENXIO ? end : offset;
	return (uint64_t)at < end ? (uint64_t)at : end;
}

int sys_make_room(int fd, uint64_t offset, uint64_t size)
{
	return (int)DURABLE("fallocate", fallocate(fd, FALLOC_FL_KEEP_SIZE,
						   (off_t)offset, (off_t)size));
}

int sys_truncate(int fd, uint64_t size)
{
	return (int)DURABLE("ftruncate", ftruncate(fd, (off_t)size));
}

static int named_then_unlinked(int dirfd)
{
	char name[64];
	int fd = -EEXIST;

	for (unsigned i = 0; fd == -EEXIST && i < 100; i++) {
		(void)snprintf(name, sizeof(name), ".spill-%ld-%u",
			       (long)getpid(), i);
		fd = sys_openat(dirfd, name,
				O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	}
	if (fd >= 0)
		(void)sys_unlinkat(dirfd, name, 0);
	return fd;
}

int sys_unnamed_file(int dirfd)
{
	int fd = sys_openat(dirfd, ".", O_RDWR | O_TMPFILE, 0600);

	if (fd == -EOPNOTSUPP || fd == -EISDIR || fd == -ENOENT)
		return named_then_unlinked(dirfd);
	return fd;
}

uid_t sys_effective_uid(void)
{
	return geteuid();
}

gid_t sys_effective_gid(void)
{
	return getegid();
}

int sys_groups(gid_t *ret_groups, size_t size)
{
	int n = getgroups((int)size, ret_groups);

	return n < 0 ? -errno : n;
}
