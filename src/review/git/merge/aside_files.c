/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/aside_files.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/content.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

/* The directory of the path in an upper that is ours alone. */
static int make_dirs(int root, const char *path, const char **ret_name)
{
	auto_fd int dir =
		sys_openat(root, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	const char *slash;

	while (dir >= 0 && (slash = strchr(path, '/'))) {
		auto_free char *name = strndup(path, (size_t)(slash - path));
		int next, r = name ? sys_mkdirat(dir, name, 0755) : -ENOMEM;

		if (r < 0 && r != -EEXIST)
			return r;
		next = sys_openat(dir, name,
				  O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
		fd_closep(&dir);
		dir = next;
		path = slash + 1;
	}
	*ret_name = path;
	return take_fd(&dir);
}

static int copy_content(int from, int to)
{
	char block[BLOCK];
	ssize_t n;

	if (sys_clone_file(to, from) >= 0)
		return 0;
	while ((n = sys_read(from, block, sizeof(block))) > 0) {
		int r = sys_write_all(to, block, (size_t)n);

		if (r < 0)
			return r;
	}
	return (int)n;
}

static int make_file(int upper, const char *path, mode_t mode)
{
	const char *name = NULL;
	auto_fd int dir = make_dirs(upper, path, &name);

	return dir < 0 ? dir
		       : sys_openat(dir, name,
				    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
				    mode);
}

static int copy_link(const struct content_place *place, int upper,
		     const char *path, struct hb_error *err)
{
	char target[PATH_MAX + 1];
	const char *name = NULL;
	ssize_t n = content_target(place, target, sizeof(target), err);
	auto_fd int dir = n < 0 ? (int)n : make_dirs(upper, path, &name);

	return dir < 0 ? dir : sys_symlinkat(target, dir, name);
}

static int copy_file(const struct content_place *place, int upper,
		     const char *path, mode_t mode, struct hb_error *err)
{
	auto_fd int in = content_open(place, err);
	auto_fd int out = in < 0 ? in : make_file(upper, path, mode);

	return out < 0 ? out : copy_content(in, out);
}

int aside_copy(const struct content_place *place, int upper, const char *path,
	       mode_t mode, struct hb_error *err)
{
	int r = place->entry->type == ENTRY_LINK
			? copy_link(place, upper, path, err)
			: copy_file(place, upper, path, mode, err);

	return r < 0 ? hb_fail_at(err, r, place->path, "cannot copy") : 0;
}

int aside_write(int upper, const char *path, const void *data, size_t n,
		struct hb_error *err)
{
	auto_fd int out = make_file(upper, path, 0644);
	int r = out < 0 ? out : sys_write_all(out, data, n);

	return r < 0 ? hb_fail_at(err, r, path, "cannot write") : 0;
}
