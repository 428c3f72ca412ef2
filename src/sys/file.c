/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/file.h"

#include "base/auto.h"
#include "sys/call.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define OPENAT2_TRIES 64

int sys_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	int fd, r;

	if (flags & (O_CREAT | O_TRUNC)) {
		r = fault_here("openat");
		if (r < 0)
			return r;
	}

	fd = (int)UNINTERRUPTED("openat",
				openat(dirfd, path, flags | O_CLOEXEC, mode));
	if (fd < 0)
		return fd;
	return flags & (O_CREAT | O_TRUNC) ? (int)fault_after(fd) : fd;
}

int sys_openat2(int dirfd, const char *path, int flags, mode_t mode,
		uint64_t resolve)
{
	struct k_open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = resolve,
	};
	long fd;
	int r;

	if (flags & (O_CREAT | O_TRUNC)) {
		r = fault_here("openat2");
		if (r < 0)
			return r;
	}

	for (int i = 0; i < OPENAT2_TRIES; i++) {
		fd = UNINTERRUPTED("openat2", syscall(SYS_openat2, dirfd, path,
						      &how, sizeof(how)));
		/* Of a name that moves away meanwhile the kernel says EXDEV. */
		if (fd != -EAGAIN &&
		    !(fd == -EXDEV && resolve & K_RESOLVE_BENEATH))
			break;
	}
	return flags & (O_CREAT | O_TRUNC) ? (int)fault_after(fd) : (int)fd;
}

int sys_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	int r;

	r = fault_here("write");
	if (r < 0)
		return r;

	while (len > 0) {
		size_t part = len;
		ssize_t n = fault_io("write", &part)
				    ? -EINTR
				    : RESULT(write(fd, p, part));

		if (n == -EINTR)
			continue;
		if (n < 0)
			return (int)n;
		/* No file does that; an object that did would do it again. */
		if (n == 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return (int)fault_after(0);
}

ssize_t sys_write_some(int fd, const void *data, size_t len)
{
	return RESULT(write(fd, data, len));
}

ssize_t sys_read(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = fault_io("read", &size) ? -EINTR
					    : RESULT(read(fd, buf, size));
	while (n == -EINTR);
	return n;
}

int sys_write_file_at(int dirfd, const char *path, const char *text)
{
	auto_fd int fd = sys_openat(dirfd, path, O_WRONLY, 0);

	if (fd < 0)
		return fd;
	return sys_write_all(fd, text, strlen(text));
}

ssize_t sys_read_full(int fd, void *buf, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = sys_read(fd, (char *)buf + used, size - used);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

ssize_t sys_read_file_at(int dirfd, const char *path, char *buf, size_t size)
{
	auto_fd int fd = sys_openat(dirfd, path, O_RDONLY | O_NOCTTY, 0);
	ssize_t n = fd < 0 ? fd : sys_read_full(fd, buf, size);

	if (n < 0)
		return n;
	if ((size_t)n == size)
		return -EFBIG;
	buf[n] = '\0';
	return n;
}

int sys_fsync(int fd)
{
	return (int)DURABLE("fsync", fsync(fd));
}

int sys_make_file_at(int dirfd, const char *path, mode_t mode)
{
	return (int)DURABLE("make_file_at",
			    mknodat(dirfd, path, S_IFREG | mode, 0));
}

int sys_mkdirat(int dirfd, const char *path, mode_t mode)
{
	return (int)DURABLE("mkdirat", mkdirat(dirfd, path, mode));
}

int sys_open_dir(int dirfd, const char *name, bool make)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
	int fd = sys_openat(dirfd, name, flags, 0);
	int r;

	if (fd != -ENOENT || !make)
		return fd;
	r = sys_mkdirat(dirfd, name, 0700);
	return r < 0 && r != -EEXIST ? r : sys_openat(dirfd, name, flags, 0);
}

int sys_symlinkat(const char *target, int dirfd, const char *path)
{
	return (int)DURABLE("symlinkat", symlinkat(target, dirfd, path));
}

int sys_renameat(int from, const char *old, int to, const char *name)
{
	return (int)DURABLE("renameat", renameat(from, old, to, name));
}

int sys_unlinkat(int dirfd, const char *path, int flags)
{
	return (int)DURABLE("unlinkat", unlinkat(dirfd, path, flags));
}

int sys_fchmod(int fd, mode_t mode)
{
	return (int)DURABLE("fchmod", fchmod(fd, mode));
}

int sys_chmod_fd(int fd, mode_t mode)
{
	char name[32];
	long r;

	r = fault_here("chmod_fd");
	if (r < 0)
		return (int)r;

	r = UNINTERRUPTED("chmod_fd",
			  syscall(SYS_fchmodat2, fd, "", mode, AT_EMPTY_PATH));
	if (r != -ENOSYS)
		return (int)fault_after(r);

	/* Before 6.6 an O_PATH descriptor has a mode only by its magic link. */
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return (int)fault_after(RESULT(fchmodat(AT_FDCWD, name, mode, 0)));
}

ssize_t sys_readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	ssize_t n = readlinkat(dirfd, path, buf, size);

	if (n < 0)
		return -errno;
	if ((size_t)n == size)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return n;
}

int sys_fstat(int fd, struct stat *ret_st)
{
	return RESULT(fstat(fd, ret_st));
}

int sys_fstatat(int dirfd, const char *path, struct stat *ret_st, int flags)
{
	return RESULT(fstatat(dirfd, path, ret_st, flags));
}

int sys_place(int fd, struct sys_place *ret_place)
{
	struct k_statx at;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH,
		    K_STATX_INO | K_STATX_MNT_ID, &at) < 0)
		return -errno;
	*ret_place = (struct sys_place){ .ino = at.ino, .mnt_id = at.mnt_id };
	return 0;
}

bool sys_is_mount_root(int fd)
{
	struct k_statx at;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, K_STATX_INO, &at) < 0 ||
	    !(at.attributes_mask & K_STATX_ATTR_MOUNT_ROOT))
		return true;
	return at.attributes & K_STATX_ATTR_MOUNT_ROOT;
}

int sys_faccessat(int dirfd, const char *path, int mode)
{
	return RESULT(faccessat(dirfd, path, mode, 0));
}

int sys_fchdir(int fd)
{
	return RESULT(fchdir(fd));
}

int sys_chdir(const char *path)
{
	return RESULT(chdir(path));
}

ssize_t sys_getcwd(char *buf, size_t size)
{
	long n = syscall(SYS_getcwd, buf, size);

	/* The raw call: libc would replace "(unreachable)" by an error. */
	return n < 0 ? -errno : n - 1;
}

int sys_read_lock(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return RESULT(fcntl(fd, F_SETLK, &lock));
}

int sys_read_lock_range(int fd, uint64_t start, uint64_t length)
{
	struct flock lock = { .l_type = F_RDLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)start,
			      .l_len = (off_t)length };

	return RESULT(fcntl(fd, F_OFD_SETLK, &lock));
}

int sys_lock_holder(int fd, uint64_t start, uint64_t length, pid_t *ret_pid)
{
	struct flock lock = { .l_type = F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)start,
			      .l_len = (off_t)length };
	int r = RESULT(fcntl(fd, F_GETLK, &lock));

	if (r < 0)
		return r;
	*ret_pid = lock.l_pid > 0 ? lock.l_pid : 0;
	return lock.l_type != F_UNLCK;
}

int sys_find_fd_above(int floor, int except)
{
	auto_fd int dir = -1;
	int lowest = -ENOENT;
	char block[2048] __attribute__((aligned(8)));
	long n;

	dir = sys_openat(AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		return dir;
	while ((n = syscall(SYS_getdents64, dir, block, sizeof(block))) > 0) {
		for (long at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);
			int fd = (int)strtol(e->name, NULL, 10);

			if (fd > floor && fd != except && fd != dir &&
			    (lowest < 0 || fd < lowest))
				lowest = fd;
			at += e->reclen;
		}
	}
	return n < 0 ? -errno : lowest;
}

int sys_fd_is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

int sys_fd_flags(int fd)
{
	return RESULT(fcntl(fd, F_GETFL));
}

bool sys_is_read_only(int fd)
{
	struct statvfs st;

	return fstatvfs(fd, &st) == 0 && (st.f_flag & ST_RDONLY) != 0;
}

int sys_set_cloexec(int fd, int on)
{
	return RESULT(fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0));
}

bool sys_has_cloexec(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && (flags & FD_CLOEXEC) != 0;
}

int64_t sys_tell(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);

	return at < 0 ? -errno : at;
}

int sys_dup_above(int fd, int lowest)
{
	/* The raw call: musl would set the flag a second time. */
	return (int)RESULT(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest));
}

int sys_dup_to(int fd, int to)
{
	return RESULT(dup2(fd, to));
}

int sys_pipe(int ret_fds[2])
{
	return RESULT(pipe2(ret_fds, O_CLOEXEC));
}

mode_t sys_umask(mode_t mask)
{
	return umask(mask);
}

void sys_close(int fd)
{
	(void)close(fd);
}
