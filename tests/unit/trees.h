/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_TREES_H
#define HB_TEST_TREES_H

#include "base/buf.h"
#include "base/error.h"
#include "changes/changes.h"

#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/*
 * A resource with its layers, made by hand in a temporary directory that
 * tree_done() removes.  Everything gets the same old mtime unless a test says
 * otherwise, so that a copy is a copy.
 */
#define TREE_LAYERS 3
#define TREE_TIME   1000000000

struct tree {
	char path[64];
	int top, base;
	int layers[TREE_LAYERS];
	size_t n_layers;
	struct resource resource;
	struct changes_request request;
};

static inline int tree_dir(int top, const char *name)
{
	int fd;

	CHECK_INT(mkdirat(top, name, 0755), 0);
	fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static inline void tree_init(struct tree *t, size_t n_layers)
{
	static const char *const names[] = { "upper", "lower", "lowest" };

	*t = (struct tree){ .path = "/var/tmp/holdback-test-XXXXXX",
			    .n_layers = n_layers };
	(void)umask(022);
	CHECK(mkdtemp(t->path) != NULL);
	t->top = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(t->top >= 0);
	t->base = tree_dir(t->top, "base");
	for (size_t i = 0; i < n_layers; i++)
		t->layers[i] = tree_dir(t->top, names[i]);
	t->resource = (struct resource)RESOURCE_CLOSED;
	t->resource.base = t->base;
	t->resource.layers = t->layers;
	t->resource.n_layers = n_layers;
	t->request = (struct changes_request){
		.resource = &t->resource,
		.spill_dir = t->top,
	};
}

/* Removes what is in the directory, by descriptor and without recursion. */
static inline void tree_empty(int dir)
{
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	int depth = 0;

	for (;;) {
		struct dirent *e;
		int below = -1;
		DIR *d;

		(void)fchmod(at, 0700);
		d = fdopendir(openat(at, ".", O_RDONLY | O_CLOEXEC));
		CHECK(d != NULL);
		while (below < 0 && (e = readdir(d))) {
			if (strcmp(e->d_name, ".") == 0 ||
			    strcmp(e->d_name, "..") == 0)
				continue;
			if (unlinkat(at, e->d_name, 0) == 0 ||
			    unlinkat(at, e->d_name, AT_REMOVEDIR) == 0)
				continue;
			(void)fchmodat(at, e->d_name, 0700, 0);
			below = openat(at, e->d_name,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					       O_CLOEXEC);
			CHECK(below >= 0);
		}
		(void)closedir(d);
		if (below < 0 && depth == 0)
			break;
		if (below < 0)
			below = openat(at, "..", O_RDONLY | O_CLOEXEC);
		else
			depth += 2;
		depth--;
		CHECK(below >= 0);
		(void)close(at);
		at = below;
	}
	(void)close(at);
}

static inline void tree_done(struct tree *t)
{
	tree_empty(t->top);
	CHECK_INT(rmdir(t->path), 0);
	(void)close(t->top);
	(void)close(t->base);
	for (size_t i = 0; i < t->n_layers; i++)
		(void)close(t->layers[i]);
}

static inline void set_mtime(int dir, const char *path, time_t sec)
{
	const struct timespec times[2] = { { .tv_sec = sec },
					   { .tv_sec = sec } };

	CHECK_INT(utimensat(dir, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* Makes or overwrites a file. */
static inline void put_file(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0644);
	size_t n = strlen(text);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, n), n);
	(void)close(fd);
	set_mtime(dir, path, TREE_TIME);
}

static inline void put_dir(int dir, const char *path)
{
	CHECK_INT(mkdirat(dir, path, 0755), 0);
}

static inline void put_link(int dir, const char *target, const char *path)
{
	CHECK_INT(symlinkat(target, dir, path), 0);
	set_mtime(dir, path, TREE_TIME);
}

static inline void put_whiteout(int dir, const char *path)
{
	CHECK_INT(mknodat(dir, path, S_IFCHR, makedev(0, 0)), 0);
}

static inline void set_xattr(int dir, const char *path, const char *name,
			     const void *value, size_t n)
{
	int fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(fsetxattr(fd, name, value, n, 0), 0);
	(void)close(fd);
}

static inline void set_opaque(int dir, const char *path)
{
	set_xattr(dir, path, "user.overlay.opaque", "y", 1);
}

static inline void set_origin(int dir, const char *path)
{
	set_xattr(dir, path, "user.overlay.origin", "", 0);
}

static inline void list_change(const struct change *c, struct buf *out)
{
	static const struct {
		unsigned flag;
		char letter;
	} flags[] = {
		{ CHANGE_OPAQUE, 'o' },	  { CHANGE_IN_NEW, 'n' },
		{ CHANGE_IN_GONE, 'g' },  { CHANGE_GIT, 'G' },
		{ CHANGE_RENAMED, 'r' },  { CHANGE_MOVED_AWAY, 'm' },
		{ CHANGE_SPECIAL, 's' },  { CHANGE_SETID, 'S' },
		{ CHANGE_CONFLICT, '!' },
	};

	(void)buf_add_fmt(out, "%c %s", (char)c->kind, c->path);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (c->flags & flags[i].flag)
			(void)buf_add_fmt(out, " %c", flags[i].letter);
	(void)buf_add_char(out, '\n');
}

/* One line per change: kind, path, letters for flags; carried ones left out. */
static inline void list_changes(struct changes *changes, struct buf *out)
{
	struct hb_error err = { 0 };
	struct change c;
	int r;

	CHECK_INT(changes_rewind(changes, &err), 0);
	while ((r = changes_next(changes, &c, &err)) == 1)
		if (!(c.flags & CHANGE_CARRIED))
			list_change(&c, out);
	CHECK_INT(r, 0);
}

static inline struct changes *scan(struct tree *t)
{
	struct hb_error err = { 0 };
	struct changes *changes = NULL;
	int r = changes_scan(&t->request, &changes, &err);

	if (r < 0)
		printf("# %s\n", err.text);
	CHECK_INT(r, 0);
	return changes;
}

#define CHECK_CHANGES(tree, want)                                        \
	do {                                                             \
		struct changes *ch_ = scan(tree);                        \
		struct buf b_ = BUF_INIT((size_t)1 << 24);               \
		list_changes(ch_, &b_);                                  \
		if (strcmp(buf_str(&b_), (want)) != 0) {                 \
			printf("# %s:%d: got\n%s# wanted\n%s", __FILE__, \
			       __LINE__, buf_str(&b_), (want));          \
			printf("Bail out!\n");                           \
			exit(1);                                         \
		}                                                        \
		buf_done(&b_);                                           \
		changes_free(ch_);                                       \
	} while (0)

/*
 * Runs a test as somebody who is not root, in a child when we are: for root no
 * permission is missing.
 */
static inline void as_ordinary_user(void (*run)(void))
{
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		run();
		return;
	}
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		/* In a user namespace there may be nobody else to be. */
		if (setgroups(0, NULL) < 0 ||
		    setresgid(65534, 65534, 65534) < 0 ||
		    setresuid(65534, 65534, 65534) < 0) {
			printf("# no other user here\n");
			_exit(0);
		}
		run();
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

#endif
