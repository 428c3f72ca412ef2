/* SPDX-License-Identifier: Apache-2.0 */
#include "holdback/enabled.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/look.h"
#include "host/self.h"
#include "store/user_dir.h"
#include "sys/file.h"
#include "tree/names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/*
 * The links of `holdback enable`.
 *
 * A link is ours if the last component of its target is `holdback`.  So a link
 * stays ours when the installation that it leads to is gone.
 */

#define BELOW_DATA "holdback/bin"
#define BELOW_HOME ".local/share/" BELOW_DATA
#define FRONT	   "holdback"
#define NEW_LINK   ".new"

int hb_enabled_dir(char *const *envp, char *ret, struct hb_error *err)
{
	const char *data = env_get(envp, "XDG_DATA_HOME");
	const char *home = env_get(envp, "HOME");
	char joined[PATH_MAX];
	int r;

	if (data && path_is_absolute(data)) {
		r = path_join(data, BELOW_DATA, joined, sizeof(joined));
	} else if (home && path_is_absolute(home)) {
		r = path_join(home, BELOW_HOME, joined, sizeof(joined));
	} else {
		hb_fix(err, "set HOME or XDG_DATA_HOME");
		return hb_fail(err, -HB_E_CONFIG,
			       "neither HOME nor XDG_DATA_HOME says where "
			       "links can lie");
	}
	if (r >= 0)
		r = path_normalise(joined, PATH_DOTS_FOLD, ret, PATH_MAX);
	return r < 0 ? hb_fail(err, r, "cannot name the directory of links")
		     : 0;
}

/* Whether the word of PATH, `n` bytes, is the directory itself. */
static bool is_dir(const char *word, size_t n, const struct stat *dir)
{
	char path[PATH_MAX];
	struct stat st;

	if (n == 0 || n >= sizeof(path) || word[0] != '/')
		return false;
	(void)snprintf(path, sizeof(path), "%.*s", (int)n, word);
	return sys_fstatat(AT_FDCWD, path, &st, 0) >= 0 &&
	       st.st_dev == dir->st_dev && st.st_ino == dir->st_ino;
}

/* How many bytes of PATH stand before the directory; -1: PATH lacks it. */
static long offset_in_path(char *const *envp)
{
	const char *list = env_get(envp, "PATH");
	char dir[PATH_MAX];
	struct stat st;

	if (!list || hb_enabled_dir(envp, dir, NULL) < 0 ||
	    sys_fstatat(AT_FDCWD, dir, &st, 0) < 0)
		return -1;
	for (const char *p = list;; p++) {
		size_t n = strcspn(p, ":");

		if (is_dir(p, n, &st))
			return p - list;
		p += n;
		if (!*p)
			return -1;
	}
}

bool hb_enabled_in_path(char *const *envp)
{
	return offset_in_path(envp) >= 0;
}

/* The program behind the link, and whether PATH gets there first. */
static void look_behind(struct hb_enabled *link, char *const *envp,
			char program[PATH_MAX])
{
	const char *list = env_get(envp, "PATH");
	long offset = offset_in_path(envp);
	char real[PATH_MAX], before[PATH_MAX], unused[PATH_MAX];

	link->program = "";
	if (look_command(link->name, list, "/", program, real, NULL) < 0) {
		link->reach = HB_REACH_MISSING;
		return;
	}
	link->program = program;
	link->reach = offset < 0 ? HB_REACH_ABSENT : HB_REACH_ON;
	if (offset <= 0)
		return;
	(void)snprintf(before, sizeof(before), "%.*s", (int)(offset - 1), list);
	if (look_command(link->name, before, "/", unused, real, NULL) >= 0)
		link->reach = HB_REACH_BEHIND;
}

/* 1: a link that we made, 0: something else; -ENOENT. */
static int is_ours(int dir, const char *name, struct hb_error *err)
{
	char target[PATH_MAX];
	ssize_t n;

	n = sys_readlinkat(dir, name, target, sizeof(target));
	if (n == -EINVAL || n == -ENAMETOOLONG)
		return 0;
	if (n == -ENOENT)
		return -ENOENT;
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read the link '%s'",
			       quoted(name));
	return path_part_is(path_basename(target), FRONT);
}

static int check_name(const char *name, struct hb_error *err)
{
	if (name[0] && name[0] != '-' && name[0] != '.' &&
	    strlen(name) <= NAME_MAX && !strpbrk(name, "/: \t\n") &&
	    !quote_is_needed(name, strlen(name)) && strcmp(name, FRONT) != 0)
		return 0;
	hb_fix(err, "give a program's name as it stands in PATH, "
		    "such as claude");
	return hb_fail(err, -HB_E_USAGE, "'%s' cannot be the name of a link",
		       quoted(name));
}

/* The directory, which with `make` is made; -ENOENT: there is none. */
static int open_dir(char *const *envp, bool make, struct hb_error *err)
{
	char path[PATH_MAX];
	auto_fd int fd = -1;
	int r;

	r = hb_enabled_dir(envp, path, err);
	if (r >= 0 && make)
		r = user_dir_make(path, err);
	if (r < 0)
		return r;
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
	if (fd == -ENOENT && !make)
		return fd;
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'", quoted(path));
	r = user_dir_check(fd, path, 022,
			   "set XDG_DATA_HOME to a directory of your own", err);
	return r < 0 ? r : take_fd(&fd);
}

static int replace(int dir, const char *name, const char *target)
{
	int r;

	(void)sys_unlinkat(dir, NEW_LINK, 0);
	r = sys_symlinkat(target, dir, NEW_LINK);
	return r < 0 ? r : sys_renameat(dir, NEW_LINK, dir, name);
}

int hb_enable(const char *name, char *const *envp, struct hb_error *err)
{
	char front[PATH_MAX], target[PATH_MAX];
	auto_fd int dir = -1;
	int r;

	r = check_name(name, err);
	if (r < 0)
		return r;
	r = place_front(front);
	if (r < 0)
		return hb_fail(err, r, "cannot tell where this program lies");
	dir = open_dir(envp, true, err);
	if (dir < 0)
		return dir;
	r = is_ours(dir, name, err);
	if (r == 0) {
		hb_fix(err, "move it away, or use another name");
		return hb_fail(err, -HB_E_STATE,
			       "'%s' is there and no link of holdback: it "
			       "stays as it is",
			       quoted(name));
	}
	if (r < 0 && r != -ENOENT)
		return r;
	if (r > 0 && sys_readlinkat(dir, name, target, sizeof(target)) >= 0 &&
	    strcmp(target, front) == 0)
		return 0;
	r = replace(dir, name, front);
	return r < 0 ? hb_fail(err, r, "cannot make the link '%s'",
			       quoted(name))
		     : 1;
}

int hb_disable(const char *name, char *const *envp, struct hb_error *err)
{
	auto_fd int dir = -1;
	int r;

	r = check_name(name, err);
	if (r < 0)
		return r;
	dir = open_dir(envp, false, err);
	if (dir == -ENOENT)
		return 0;
	if (dir < 0)
		return dir;
	r = is_ours(dir, name, err);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	if (r == 0) {
		hb_fix(err, "remove it by hand if it is not needed");
		return hb_fail(err, -HB_E_STATE,
			       "'%s' is no link of holdback: it stays as it is",
			       quoted(name));
	}
	r = sys_unlinkat(dir, name, 0);
	return r < 0 ? hb_fail(err, r, "cannot remove the link '%s'",
			       quoted(name))
		     : 1;
}

/* 1: told. */
static int tell_one(int dir, const char *name, char *const *envp,
		    void (*tell)(void *ctx, const struct hb_enabled *link),
		    void *ctx, struct hb_error *err)
{
	struct hb_enabled link = { .name = name };
	char program[PATH_MAX];
	struct stat st;
	int r;

	r = is_ours(dir, name, err);
	if (r <= 0)
		return r == -ENOENT ? 0 : r;
	look_behind(&link, envp, program);
	if (sys_fstatat(dir, name, &st, 0) < 0)
		link.reach = HB_REACH_STALE;
	tell(ctx, &link);
	return 1;
}

int hb_enabled_each(const char *only, char *const *envp,
		    void (*tell)(void *ctx, const struct hb_enabled *link),
		    void *ctx, struct hb_error *err)
{
	struct names_pool pool;
	auto_fd int dir = -1;
	struct names names = { 0 };
	const char *name;
	int n = 0, r;

	dir = open_dir(envp, false, err);
	if (dir == -ENOENT)
		return 0;
	if (dir < 0)
		return dir;
	if (only)
		return tell_one(dir, only, envp, tell, ctx, err);
	names_pool_init(&pool, dir);
	r = names_read(&pool, &dir, 1, &names, err);
	while (r >= 0 && (r = names_next(&names, &name, err)) > 0) {
		r = tell_one(dir, name, envp, tell, ctx, err);
		n += r > 0;
	}
	names_done(&names);
	names_pool_done(&pool);
	return r < 0 ? r : n > 0;
}
