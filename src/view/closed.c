/* SPDX-License-Identifier: Apache-2.0 */
#include "view/closed.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A list of directories that grows while it is gone through: one descriptor,
 * and no depth but that of the bound.  An /etc of a large server has some three
 * thousand entries.
 */
#define TOP	    "/etc"
#define ENTRIES_MAX 16384 /* in all directories together */
#define DEPTH_MAX   12
#define HIDDEN_MAX  1024 /* so many entries, then whole directories */
#define LIST_SIZE   8192

#define DIR_FOR_ALL (S_IROTH | S_IXOTH)

struct paths {
	const char **at; /* the plan has them */
	size_t n;
};

struct closed {
	struct run *run;
	struct paths next;  /* directories that others may read */
	struct paths files; /* to hide */
	struct paths dirs;
	size_t n_entries;
};

static int add_path(struct closed *c, struct paths *paths, const char *path,
		    struct hb_error *err)
{
	char *copy = strdup(path);
	int r;

	if (copy && grow(paths->at, paths->n) < 0) {
		free(copy);
		copy = NULL;
	}
	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	r = plan_keep(&c->run->plan, copy, err);
	if (r >= 0)
		paths->at[paths->n++] = copy;
	return r;
}

/* Nothing has to be done where it is hidden already, or asked for by name. */
static bool is_settled(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if ((e->class == VIEW_HIDE && e->found != VIEW_ABSENT &&
		     view_lies_in(path, e->path)) ||
		    (view_is_asked(e) && view_lies_in(path, e->path)))
			return true;
	}
	return false;
}

static int look_at(struct closed *c, int dir, const char *path,
		   const char *name, struct hb_error *err)
{
	char whole[PATH_MAX];
	struct sys_attr a;
	bool is_dir;

	if (sys_attr_at(dir, name, &a) < 0 || S_ISLNK(a.mode))
		return 0;
	is_dir = S_ISDIR(a.mode);
	if (!is_dir && (a.mode & S_IROTH))
		return 0;
	if (path_join(path, name, whole, sizeof(whole)) < 0)
		return -E2BIG;
	if (is_settled(c->run, whole))
		return 0;
	if (!is_dir)
		return add_path(c, &c->files, whole, err);
	return add_path(
		c, (a.mode & DIR_FOR_ALL) == DIR_FOR_ALL ? &c->next : &c->dirs,
		whole, err);
}

/* -E2BIG: there is more than is looked at. */
static int read_dir(struct closed *c, int fd, const char *path,
		    struct hb_error *err)
{
	char block[LIST_SIZE] __attribute__((aligned(8)));
	ssize_t n;
	int r = 0;

	while ((n = sys_getdents(fd, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; r >= 0 && at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (path_is_dots(e->name) || e->type == DT_LNK)
				continue;
			if (++c->n_entries > ENTRIES_MAX ||
			    c->files.n + c->dirs.n >= HIDDEN_MAX)
				return -E2BIG;
			r = look_at(c, fd, path, e->name, err);
		}
		if (r < 0)
			return r;
	}
	return n < 0 ? -E2BIG : 0;
}

static size_t count_slashes(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

/* What cannot be looked at to the end is hidden, and what it led to with it. */
static int look_into(struct closed *c, const char *path, struct hb_error *err)
{
	size_t next = c->next.n, files = c->files.n, dirs = c->dirs.n;
	auto_fd int fd = -1;
	int r = -E2BIG;

	if (count_slashes(path) <= DEPTH_MAX && c->n_entries <= ENTRIES_MAX)
		fd = sys_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0,
				 K_RESOLVE_NO_SYMLINKS);
	if (fd >= 0)
		r = read_dir(c, fd, path, err);
	if (fd == -ENOENT)
		return 0;
	if (r != -E2BIG)
		return r;
	c->next.n = next;
	c->files.n = files;
	c->dirs.n = dirs;
	c->run->n_closed_whole++;
	return add_path(c, &c->dirs, path, err);
}

static int add_entries(struct closed *c, struct hb_error *err)
{
	const struct paths *kinds[] = { &c->files, &c->dirs };
	struct run *run = c->run;
	int r = entries_more(run, c->files.n + c->dirs.n, err);

	if (r < 0)
		return r;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < kinds[k]->n; i++)
			run->entries[run->n_entries++] = (struct view_entry){
				.class = VIEW_HIDE,
				.found = k ? VIEW_DIR : VIEW_FILE,
				.path = kinds[k]->at[i],
			};
	return 0;
}

static bool shows_etc(const struct run *run)
{
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_SHOW &&
		    run->entries[i].found == VIEW_DIR &&
		    strcmp(run->entries[i].path, TOP) == 0)
			return true;
	return false;
}

int closed_find(struct run *run, struct hb_error *err)
{
	struct closed c = { .run = run };
	int r;

	if (!run->host.is_root || !shows_etc(run))
		return 0;
	r = add_path(&c, &c.next, TOP, err);
	for (size_t i = 0; r >= 0 && i < c.next.n; i++)
		r = look_into(&c, c.next.at[i], err);
	if (r >= 0)
		r = add_entries(&c, err);
	free(c.next.at);
	free(c.files.at);
	free(c.dirs.at);
	return r;
}
