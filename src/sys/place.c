/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/place.h"

#include "base/auto.h"
#include "base/time.h"
#include "sys/attr.h"
#include "sys/call.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int sys_mount_id(int fd, uint64_t *ret_id)
{
	struct k_statx at = { 0 };

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, K_STATX_MNT_ID, &at) < 0)
		return -errno;
	*ret_id = at.mnt_id;
	return 0;
}

/* The project of a directory; what knows none has none. */
static int64_t project_of(int fd)
{
	struct k_fsxattr x = { 0 };

	if (ioctl(fd, K_FSGETXATTR, &x) < 0)
		return errno == ENOTTY || errno == EOPNOTSUPP ? 0 : -errno;
	return x.project;
}

bool sys_is_encrypted(int fd)
{
	struct k_statx at = { 0 };

	return syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0, &at) >= 0 &&
	       (at.attributes & K_STATX_ATTR_ENCRYPTED);
}

bool sys_is_one_place(int a, int b)
{
	static const unsigned long plain[] = { 0xEF53,	   /* ext4 */
					       0x58465342, /* xfs */
					       0x01021994 /* tmpfs */ };
	struct statfs fs;
	uint64_t x = 0, y = 0;
	bool is_plain = false;
	int64_t project;

	if (sys_mount_id(a, &x) < 0 || sys_mount_id(b, &y) < 0 || x != y ||
	    fstatfs(a, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		is_plain |= (unsigned long)fs.f_type == plain[i];
	/* ext4 refuses what is not of the same policy. */
	if (!is_plain || sys_is_encrypted(a) || sys_is_encrypted(b))
		return false;
	project = project_of(a);
	return project >= 0 && project == project_of(b);
}

ssize_t sys_fd_path(int fd, char *buf, size_t size)
{
	static const char gone[] = " (deleted)";
	char name[32];
	struct stat st;
	ssize_t n;

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = sys_readlinkat(AT_FDCWD, name, buf, size);
	if (n < 0)
		return n;
	/* A name may really end like this: what has no link is gone. */
	if ((size_t)n > sizeof(gone) &&
	    strcmp(buf + (size_t)n - (sizeof(gone) - 1), gone) == 0 &&
	    fstat(fd, &st) == 0 && st.st_nlink == 0)
		return -ENOENT;
	return buf[0] == '/' ? n : -ENOENT;
}

int sys_tmpfile(int dirfd)
{
	int r;

	r = fault_here("tmpfile");
	if (r < 0)
		return r;
	return sys_openat(dirfd, ".", O_TMPFILE | O_RDWR, 0600);
}

int sys_sealed_file(const void *data, size_t size)
{
	auto_fd int fd = -1;
	int r;

	fd = memfd_create("holdback", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	r = sys_write_all(fd, data, size);
	if (r < 0)
		return r;
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	return take_fd(&fd);
}

int sys_memory_file(void)
{
	return RESULT(memfd_create("holdback", MFD_CLOEXEC));
}

int sys_name_file(int fd, int dirfd, const char *name)
{
	char source[32];

	(void)snprintf(source, sizeof(source), "/proc/self/fd/%d", fd);
	return (int)DURABLE("linkat", linkat(AT_FDCWD, source, dirfd, name,
					     AT_SYMLINK_FOLLOW));
}

int sys_touch(int fd)
{
	if (fault_is_clock_still())
		return 0;
	return (int)DURABLE("touch", futimens(fd, NULL));
}

int sys_make_whiteout(int dirfd, const char *name)
{
	return (int)DURABLE("mknodat",
			    mknodat(dirfd, name, S_IFCHR, makedev(0, 0)));
}

struct timespec sys_now(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

void sys_pause(long milliseconds)
{
	sys_pause_us(milliseconds * 1000);
}

void sys_pause_us(long microseconds)
{
	struct timespec left = { .tv_sec = microseconds / 1000000,
				 .tv_nsec = microseconds % 1000000 * 1000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static int touch(int fd, struct timespec *ret_ctime)
{
	struct sys_attr a;
	int r = sys_touch(fd);

	if (r >= 0)
		r = sys_attr_at(fd, "", &a);
	if (r < 0)
		return r;
	*ret_ctime = a.ctime;
	return 0;
}

int sys_pass_tick(int fd, int tries, struct timespec *ret_now)
{
	struct timespec first;
	int r = touch(fd, &first);

	for (; r >= 0 && tries > 0; tries--) {
		r = touch(fd, ret_now);
		if (r >= 0 && time_is_before(first, *ret_now))
			return 0;
		if (r >= 0)
			sys_pause(1);
	}
	return r < 0 ? r : -ETIME;
}

int sys_random(void *buf, size_t size)
{
	long n = UNINTERRUPTED("getrandom", getrandom(buf, size, 0));

	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EIO;
}
