/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/origin.h"

#include "base/auto.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/overlay.h"

#include <fcntl.h>
#include <string.h>

#define ORIGIN OVERLAY_PREFIX "origin"

/* All names together; some file systems have no room for more. */
#define NAMES_MAX 2048

/* A slash before each name, which a handle of the kernel never begins with. */
#define BEFORE '/'

static bool has_name(const char *names, size_t n, const char *path)
{
	size_t len = strlen(path);

	for (size_t at = 0; at < n;) {
		const char *name = names + at;
		size_t rest = strnlen(name, n - at);

		if (rest == len + 1 && name[0] == BEFORE &&
		    memcmp(name + 1, path, len) == 0)
			return true;
		at += rest + 1;
	}
	return false;
}

int origin_mark(int fd, const char *path, bool is_shared)
{
	size_t len = strlen(path) + 2;
	char names[NAMES_MAX];
	ssize_t n = 0;

	if (!is_shared)
		return sys_set_xattr(fd, ORIGIN, "", 0);
	n = sys_get_xattr(fd, ORIGIN, names, sizeof(names));
	/* It speaks of all names already, by saying none. */
	if (n == 0)
		return 0;
	if (n < 0)
		n = 0;
	if ((size_t)n + len > sizeof(names))
		return sys_set_xattr(fd, ORIGIN, "", 0);
	names[n] = BEFORE;
	memcpy(names + n + 1, path, len - 1);
	return sys_set_xattr(fd, ORIGIN, names, (size_t)n + len);
}

int origin_is_of(int dir, const char *name, const struct entry *entry,
		 const char *path)
{
	auto_fd int fd = sys_openat(dir, name, O_PATH | O_NOFOLLOW, 0);
	char names[NAMES_MAX];
	ssize_t n;

	n = fd < 0 ? fd
		   : access_get_xattr(fd, entry, ORIGIN, names, sizeof(names));
	return n <= 0 || names[0] != BEFORE || has_name(names, (size_t)n, path);
}
