/* SPDX-License-Identifier: Apache-2.0 */
#include "host/alternates.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/worktree.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 16384
#define INSIDE	 (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_XDEV)

void alternates_done(struct alternates *alternates)
{
	for (size_t i = 0; i < alternates->n; i++) {
		free(alternates->list[i].path);
		free(alternates->list[i].real);
	}
	*alternates = (struct alternates){ 0 };
}

/* Whether it is `objects` of a repository of that owner; `real` is its path. */
static bool is_borrowed(const char *path, uid_t owner, char *real)
{
	auto_fd int fd = sys_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);
	auto_fd int above = -1;
	char name[32];
	struct stat st;

	if (fd < 0 || sys_fstat(fd, &st) < 0 || st.st_uid != owner)
		return false;
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (sys_readlinkat(AT_FDCWD, name, real, PATH_MAX) < 0 ||
	    !path_part_is(path_basename(real), "objects"))
		return false;
	above = sys_openat(fd, "..", O_PATH | O_DIRECTORY, 0);
	return above >= 0 && worktree_is_repository(above, owner);
}

static int add(struct alternates *a, const char *path, uid_t owner)
{
	char real[PATH_MAX];

	if (!is_borrowed(path, owner, real)) {
		a->n_refused++;
		return 0;
	}
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->list[i].path, path) == 0)
			return 0;
	if (a->n == ALTERNATES_MAX) {
		a->n_refused++;
		return 0;
	}
	a->list[a->n] = (struct alternate){ strdup(path), strdup(real) };
	a->n++;
	return a->list[a->n - 1].path && a->list[a->n - 1].real ? 0 : -ENOMEM;
}

/* One line: a path, relative to `objects` or not, maybe in quotes. */
static int add_line(struct alternates *a, const char *objects, const char *line,
		    uid_t owner)
{
	auto_buf struct buf plain = BUF_INIT(PATH_MAX);
	char path[PATH_MAX];
	int r;

	if (!line[0] || line[0] == '#')
		return 0;
	if (unquote_name(line, strlen(line), &plain) < 0) {
		a->n_refused++;
		return 0;
	}
	r = path_is_absolute(buf_str(&plain))
		    ? path_join(buf_str(&plain), "", path, sizeof(path))
		    : path_join(objects, buf_str(&plain), path, sizeof(path));
	if (r < 0) {
		a->n_refused++;
		return 0;
	}
	return add(a, path, owner);
}

static int read_list(struct alternates *a, const char *objects)
{
	char text[TEXT_MAX], *line, *rest = text;
	auto_fd int dir =
		sys_openat(AT_FDCWD, objects, O_PATH | O_DIRECTORY, 0);
	auto_fd int fd = -1;
	struct stat st;
	ssize_t n;
	int r = 0;

	fd = dir < 0 ? dir
		     : sys_openat2(dir, "info/alternates",
				   O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, INSIDE);
	if (fd < 0 || sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	/* Root takes the word of whose repository it is. */
	n = sys_getuid() == 0 || st.st_uid == sys_getuid()
		    ? sys_read(fd, text, sizeof(text) - 1)
		    : -EPERM;
	if (n < 0 || (size_t)n >= sizeof(text) - 1 ||
	    memchr(text, '\0', (size_t)n)) {
		a->n_refused++;
		return 0;
	}
	text[n] = '\0';
	while (r >= 0 && (line = strsep(&rest, "\n")))
		r = add_line(a, objects, line, st.st_uid);
	return r;
}

int alternates_find(const char *git_dir, struct alternates *ret)
{
	char objects[PATH_MAX];
	int r;

	*ret = (struct alternates){ 0 };
	if (path_join(git_dir, "objects", objects, sizeof(objects)) < 0)
		return 0;
	r = read_list(ret, objects);
	/* The list grows meanwhile; a directory is in it once. */
	for (size_t i = 0; r >= 0 && i < ret->n; i++)
		r = read_list(ret, ret->list[i].path);
	return r;
}
