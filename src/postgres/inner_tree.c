/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/inner_tree.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK ((size_t)32 << 10)

struct walk {
	inner_fn fn;
	void *ctx;
	bool removes; /* directories, when they are empty */
	char path[PATH_MAX];
};

static int walk_dir(struct walk *w, int dir, size_t len, unsigned depth,
		    struct hb_error *err);

static int walk_name(struct walk *w, int dir, const char *name, size_t len,
		     unsigned depth, struct hb_error *err)
{
	auto_fd int below = -1;
	struct stat st;
	int n, r;

	n = snprintf(w->path + len, sizeof(w->path) - len, "%s%s",
		     len > 0 ? "/" : "", name);
	if (n < 0 || len + (size_t)n >= sizeof(w->path))
		return hb_fail(err, -ENAMETOOLONG, "a path is too long");
	r = sys_fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", quoted(name));
	if (!S_ISDIR(st.st_mode))
		return w->fn(w->ctx, dir, name, w->path, err);
	below = sys_openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (below < 0)
		return hb_fail(err, below, "cannot open '%s'", quoted(name));
	r = walk_dir(w, below, len + (size_t)n, depth + 1, err);
	if (r >= 0 && w->removes)
		r = sys_unlinkat(dir, name, AT_REMOVEDIR);
	return r < 0 ? hb_fail(err, r, "'%s'", quoted(name)) : 0;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int walk_dir(struct walk *w, int dir, size_t len, unsigned depth,
		    struct hb_error *err)
{
	auto_free char *block = malloc(BLOCK);
	ssize_t n = 0;
	int r = 0;

	if (!block || depth > INNER_DEPTH_MAX)
		return hb_fail(err, block ? -ELOOP : -ENOMEM,
			       "cannot list a directory");
	while (r >= 0 && (n = sys_getdents(dir, block, BLOCK)) > 0)
		for (ssize_t at = 0; r >= 0 && at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			if (!is_dots(e->name))
				r = walk_name(w, dir, e->name, len, depth, err);
			w->path[len] = '\0';
			at += e->reclen;
		}
	if (n < 0)
		return hb_fail(err, (int)n, "cannot list a directory");
	return r;
}

int inner_each(int dir, inner_fn fn, void *ctx, struct hb_error *err)
{
	struct walk w = { .fn = fn, .ctx = ctx };
	auto_fd int fd = sys_openat(dir, ".", O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? hb_fail(err, fd, "cannot open a directory")
		      : walk_dir(&w, fd, 0, 0, err);
}

/* Of type inner_fn. */
static int remove_one(void *ctx, int dir, const char *name, const char *path,
		      struct hb_error *err)
{
	int r = sys_unlinkat(dir, name, 0);

	(void)ctx;
	return r < 0 ? hb_fail(err, r, "cannot remove '%s'", quoted(path)) : 0;
}

int inner_remove(int dir, const char *name, struct hb_error *err)
{
	struct walk w = { .fn = remove_one, .removes = true };
	int r = sys_faccessat(dir, name, 0);

	if (r == -ENOENT)
		return 0;
	return walk_name(&w, dir, name, 0, 0, err);
}
