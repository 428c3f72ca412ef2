/* SPDX-License-Identifier: Apache-2.0 */
#include "box/dest.h"

#include "base/auto.h"
#include "base/path.h"
#include "box/state.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define INSIDE (K_RESOLVE_IN_ROOT | K_RESOLVE_NO_MAGICLINKS)

static int open_inside(const struct box *box, const char *path, int flags)
{
	return sys_openat2(box->root, path, O_PATH | flags, 0, INSIDE);
}

int dest_open(const struct box *box, const char *path)
{
	return open_inside(box, path, 0);
}

mode_t dest_parent_mode(mode_t perms)
{
	mode_t mode = 0755;

	if ((perms & 0070) == 0)
		mode &= ~(mode_t)0050;
	if ((perms & 0007) == 0)
		mode &= ~(mode_t)0005;
	return mode;
}

/*
 * The longest part of `prefix` before its last component that is there: O_PATH
 * of it, and where it ends.
 */
static int open_longest(const struct box *box, char *prefix, size_t len,
			size_t *ret_end)
{
	size_t end = len;
	char saved;
	int fd;

	do {
		while (end > 0 && prefix[end - 1] == '/')
			end--;
		while (end > 0 && prefix[end - 1] != '/')
			end--;
		saved = prefix[end];
		prefix[end] = '\0';
		fd = open_inside(box, end > 0 ? prefix : "/", O_DIRECTORY);
		prefix[end] = saved;
	} while (fd == -ENOENT && end > 0);
	*ret_end = end;
	return fd;
}

/*
 * `path` is not there.  Each prefix of it is looked up from the root again, not
 * one step from the last.  Only so a link among them leads where it will lead
 * later.
 */
static int make_dirs(const struct box *box, const char *path, size_t len,
		     mode_t mode, mode_t parent_mode, struct hb_error *err)
{
	auto_fd int dir = -1;
	char prefix[PATH_MAX];
	size_t i;

	if (len >= sizeof(prefix))
		return box_fail(box, err, -ENAMETOOLONG, WORD_DEST, path);
	memcpy(prefix, path, len);
	prefix[len] = '\0';
	dir = open_longest(box, prefix, len, &i);
	if (dir < 0)
		return box_fail(box, err, dir, WORD_DEST, path);

	while (i < len) {
		size_t start, end;
		bool is_last;
		char saved;
		int next, r;

		start = i + strspn(prefix + i, "/");
		end = start + strcspn(prefix + start, "/");
		if (start == end)
			break;
		saved = prefix[end];
		prefix[end] = '\0';
		is_last = end + strspn(path + end, "/") >= len;
		r = sys_mkdirat(dir, prefix + start,
				is_last ? mode : parent_mode);
		/* What dots lead back to may be there. */
		if (r < 0 && r != -EEXIST)
			return box_fail(box, err, r, WORD_DEST, path);
		next = open_inside(box, prefix, O_DIRECTORY);
		if (next < 0)
			return box_fail(box, err, r < 0 ? r : next, WORD_DEST,
					path);
		fd_closep(&dir);
		dir = next;
		prefix[end] = saved;
		i = end;
	}
	return take_fd(&dir);
}

int dest_make_dir(const struct box *box, const char *path, mode_t mode,
		  mode_t parent_mode, struct hb_error *err)
{
	int fd;

	fd = open_inside(box, path, O_DIRECTORY);
	if (fd >= 0)
		return fd;
	if (fd != -ENOENT)
		return box_fail(box, err, fd, WORD_DEST, path);
	return make_dirs(box, path, strlen(path), mode, parent_mode, err);
}

const char *dest_make_top(const struct box *box, const char *path, mode_t mode)
{
	const char *name = path + strspn(path, "/");

	if (name == path || name[0] == '\0' || strchr(name, '/') ||
	    path_is_dots(name) || sys_mkdirat(box->root, name, mode) < 0)
		return NULL;
	return name;
}

int dest_open_parent(const struct box *box, const char *path,
		     mode_t parent_mode, const char **ret_name,
		     struct hb_error *err)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	size_t len;
	int fd;

	*ret_name = slash ? slash + 1 : path;
	len = (size_t)(*ret_name - path);
	if (len >= sizeof(parent))
		return box_fail(box, err, -ENAMETOOLONG, WORD_DEST, path);
	(void)snprintf(parent, sizeof(parent), "/%.*s", (int)len, path);
	fd = open_inside(box, parent, O_DIRECTORY);
	if (fd != -ENOENT)
		return fd < 0 ? box_fail(box, err, fd, WORD_DEST, path) : fd;
	return make_dirs(box, parent, strlen(parent), parent_mode, parent_mode,
			 err);
}

int dest_make_file(const struct box *box, const char *path, mode_t mode,
		   mode_t parent_mode, struct hb_error *err)
{
	auto_fd int parent = -1;
	auto_fd int made = -1;
	const char *name;
	int fd;

	fd = open_inside(box, path, 0);
	if (fd >= 0)
		return fd;
	if (fd != -ENOENT)
		return box_fail(box, err, fd, WORD_FILE, path);
	parent = dest_open_parent(box, path, parent_mode, &name, err);
	if (parent < 0)
		return parent;
	/* O_EXCL: a dangling link there is not ours to fill. */
	made = sys_openat(parent, name, O_WRONLY | O_CREAT | O_EXCL, mode);
	if (made < 0)
		return box_fail(box, err, made, WORD_FILE, path);
	fd = open_inside(box, path, 0);
	if (fd < 0)
		return box_fail(box, err, fd, WORD_FILE, path);
	return fd;
}
