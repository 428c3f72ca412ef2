/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/caller.h"

#include "base/auto.h"
#include "base/path.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PAGE	    4096
#define STATUS_SIZE 8192

/* To the end of each page: the next page need not be there. */
int caller_word(pid_t pid, uint64_t address, char ret[PATH_MAX])
{
	size_t n = 0;

	while (n < PATH_MAX) {
		size_t want = PAGE - ((address + n) & (PAGE - 1));
		ssize_t got;

		if (want > PATH_MAX - n)
			want = PATH_MAX - n;
		got = sys_read_memory(pid, address + n, ret + n, want);
		if (got <= 0)
			return got < 0 ? (int)got : -EFAULT;
		if (memchr(ret + n, '\0', (size_t)got))
			return 0;
		n += (size_t)got;
	}
	return -ENAMETOOLONG;
}

int caller_name(int proc, pid_t pid, int dirfd, const char *word,
		struct caller_name *ret)
{
	size_t size = sizeof(ret->name);
	int n;

	ret->at = word[0] == '/' ? AT_FDCWD : proc;
	if (word[0] == '\0')
		return -ENOENT;
	if (word[0] == '/')
		n = snprintf(ret->name, size, "%s", word);
	else if (dirfd == AT_FDCWD)
		n = snprintf(ret->name, size, "%d/cwd/%s", (int)pid, word);
	else
		n = snprintf(ret->name, size, "%d/fd/%d/%s", (int)pid, dirfd,
			     word);
	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int caller_parent(struct caller_name *name, const char **ret_last)
{
	size_t n = strlen(name->name);
	char *slash;
	int fd;

	while (n > 1 && name->name[n - 1] == '/')
		name->name[--n] = '\0';
	slash = strrchr(name->name, '/');
	if (!slash || slash[1] == '\0' || path_is_dots(slash + 1))
		return -EINVAL;
	if (slash == name->name) {
		fd = sys_openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
	} else {
		*slash = '\0';
		fd = sys_openat(name->at, name->name, O_PATH | O_DIRECTORY, 0);
	}
	*ret_last = slash + 1;
	return fd;
}

ssize_t caller_path_of(int proc, int fd, char *buf, size_t size)
{
	static const char gone[] = " (deleted)";
	const size_t tail = sizeof(gone) - 1;
	char link[32];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "self/fd/%d", fd);
	n = sys_readlinkat(proc, link, buf, size);
	if (n < 0)
		return n;
	if (buf[0] != '/' ||
	    ((size_t)n >= tail && strcmp(buf + (size_t)n - tail, gone) == 0))
		return -ENOENT;
	return n;
}

static bool is_same_at(int proc, pid_t pid, const char *what)
{
	char theirs[64], ours[64];
	struct stat a, b;

	(void)snprintf(theirs, sizeof(theirs), "%d/%s", (int)pid, what);
	(void)snprintf(ours, sizeof(ours), "self/%s", what);
	return sys_fstatat(proc, theirs, &a, 0) >= 0 &&
	       sys_fstatat(proc, ours, &b, 0) >= 0 && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

/* Both have the same line that begins with `key`. */
static bool is_same_line(const char *a, const char *b, const char *key)
{
	size_t n;

	a = strstr(a, key);
	b = strstr(b, key);
	if (!a || !b)
		return false;
	/* A key begins with the end of the line before. */
	n = 1 + strcspn(a + 1, "\n");
	return n == 1 + strcspn(b + 1, "\n") && memcmp(a, b, n) == 0;
}

static bool has_same_ids(int proc, pid_t pid)
{
	static char a[STATUS_SIZE], b[STATUS_SIZE];
	char name[32];

	(void)snprintf(name, sizeof(name), "%d/status", (int)pid);
	return sys_read_file_at(proc, name, a, sizeof(a)) >= 0 &&
	       sys_read_file_at(proc, "self/status", b, sizeof(b)) >= 0 &&
	       is_same_line(a, b, "\nUid:") && is_same_line(a, b, "\nGid:") &&
	       is_same_line(a, b, "\nGroups:");
}

bool caller_is_equal(int proc, pid_t pid)
{
	return is_same_at(proc, pid, "ns/mnt") &&
	       is_same_at(proc, pid, "ns/user") &&
	       is_same_at(proc, pid, "root/.") && has_same_ids(proc, pid);
}
