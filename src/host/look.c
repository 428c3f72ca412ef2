/* SPDX-License-Identifier: Apache-2.0 */
#include "host/look.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/mountinfo.h"
#include "host/self.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* How often a file may be replaced while it is looked at. */
#define LINKS_MAX 40
#define LOOKS	  100

/* Whether the kernel's name for `fd` is that of a deleted file. */
static bool is_replaced(int fd, const char *name)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(name), n_mark = sizeof(mark) - 1;
	struct stat here, there;

	if (n < n_mark || strcmp(name + n - n_mark, mark) != 0)
		return false;
	return sys_fstat(fd, &here) < 0 ||
	       sys_fstatat(AT_FDCWD, name, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
	       here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

int look_cwd(char *ret, struct hb_error *err)
{
	if (sys_getcwd(ret, PATH_MAX) >= 0 && path_is_absolute(ret))
		return 0;
	hb_fix(err, "change to a directory that exists");
	return hb_fail(err, -HB_E_USAGE, "the working directory is gone");
}

const char *hb_sudo_user(char *const *envp)
{
	const char *user = env_get(envp, "SUDO_USER");

	return sys_getuid() == 0 && user && user[0] && strcmp(user, "root") != 0
		       ? user
		       : NULL;
}

int look_real(const char *path, char *ret)
{
	/* What is replaced at this very moment is looked for again. */
	for (unsigned i = 0; i < LOOKS; i++) {
		auto_fd int fd = sys_openat(AT_FDCWD, path, O_PATH, 0);
		char link[32];
		ssize_t n;

		if (fd < 0)
			return fd;
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = sys_readlinkat(AT_FDCWD, link, ret, PATH_MAX);
		if (n < 0)
			return (int)n;
		if (!is_replaced(fd, ret))
			return 0;
	}
	return -ENOENT;
}

/* With "/" for a home, as services have it, there is none to hide. */
static bool is_home(const char *name, char *real)
{
	return name && name[0] == '/' && look_real(name, real) >= 0 &&
	       strcmp(real, "/") != 0;
}

const char *look_home(char *const *envp, char *real)
{
	const char *name = env_get(envp, "HOME");
	const struct passwd *user;

	if (is_home(name, real))
		return name;
	/* Not said, or not true: then what the system says. */
	user = getpwuid(sys_getuid());
	name = user ? user->pw_dir : NULL;
	return is_home(name, real) ? name : NULL;
}

/* A file of another user must not make the view wider. */
static bool has_git(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	return path_join(dir, ".git", path, sizeof(path)) >= 0 &&
	       sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       (st.st_uid == sys_getuid() || st.st_uid == 0);
}

void look_workspace(const char *cwd, const char *home, char *ret)
{
	char dir[PATH_MAX];

	(void)snprintf(ret, PATH_MAX, "%s", cwd);
	(void)snprintf(dir, sizeof(dir), "%s", cwd);
	/* A `.git` in the home directory holds dot files. */
	while (!view_refuses_workspace(dir, home) &&
	       !(home && strcmp(dir, home) == 0)) {
		char *slash = strrchr(dir, '/');

		if (has_git(dir)) {
			(void)snprintf(ret, PATH_MAX, "%s", dir);
			return;
		}
		if (slash == dir)
			return;
		*slash = '\0';
	}
}

bool look_mount_below(const char *dir, char *ret, size_t size)
{
	auto_free char *text = NULL;
	struct hb_mount mount;

	if (mountinfo_read(0, &text) < 0)
		return false;
	for (char *at = text; mountinfo_next(&at, &mount);) {
		if (strcmp(mount.path, dir) == 0 ||
		    !path_is_beneath(mount.path, dir))
			continue;
		(void)snprintf(ret, size, "%s", mount.path);
		return true;
	}
	return false;
}

/* 0: a program; -ENOENT, or -EACCES for something that is none. */
static int look_program(const char *path, struct stat *st)
{
	int r;

	r = sys_fstatat(AT_FDCWD, path, st, 0);
	if (r < 0)
		return r == -ENOTDIR ? -ENOENT : r;
	if (!S_ISREG(st->st_mode) || !(st->st_mode & 0111))
		return -EACCES;
	return 0;
}

bool look_stands_in_front(const char *word, const struct stat *st)
{
	struct stat self;

	return strcmp(word, "holdback") != 0 && place_stat_front(&self) >= 0 &&
	       self.st_dev == st->st_dev && self.st_ino == st->st_ino;
}

static int look_in_list(const char *word, const char *list, const char *cwd,
			char *ret)
{
	int first = -ENOENT;

	if (!list)
		list = DEFAULT_PATH;
	for (;; list++) {
		size_t n = strcspn(list, ":");
		char dir[PATH_MAX];
		struct stat st;
		int r;

		/* An empty entry is the working directory, as in a shell. */
		if (list[0] == '/' || n == 0)
			(void)snprintf(dir, sizeof(dir), "%.*s", (int)n, list);
		else
			(void)snprintf(dir, sizeof(dir), "%s/%.*s", cwd, (int)n,
				       list);
		if (path_join(n ? dir : cwd, word, ret, PATH_MAX) >= 0) {
			r = look_program(ret, &st);
			if (r == 0 && !look_stands_in_front(word, &st))
				return 0;
			if (r < 0 && r != -ENOENT && first == -ENOENT)
				first = r;
		}
		list += n;
		if (!*list)
			return first;
	}
}

static int full_path(const char *path, const char *cwd, char *ret)
{
	if (path_is_absolute(path))
		return path_normalise(path, PATH_DOTS_FOLD, ret, PATH_MAX);
	return path_join(cwd, path, ret, PATH_MAX);
}

int look_command(const char *word, const char *path_list, const char *cwd,
		 char *name, char *real, struct hb_error *err)
{
	struct stat st;
	int r;

	if (!strchr(word, '/')) {
		r = word[0] ? look_in_list(word, path_list, cwd, name)
			    : -ENOENT;
		if (r == -ENOENT)
			return hb_fail(err, -HB_E_NOT_FOUND,
				       "there is no program '%s' in PATH",
				       quoted(word));
	} else {
		r = full_path(word, cwd, name);
		if (r >= 0)
			r = look_program(name, &st);
		if (r == -ENOENT)
			return hb_fail(err, -HB_E_NOT_FOUND, "there is no '%s'",
				       quoted(word));
	}
	if (r >= 0)
		r = look_real(name, real);
	if (r < 0)
		return hb_fail(err, -HB_E_NOT_EXECUTABLE,
			       "'%s' is not an executable file", quoted(word));
	return 0;
}

bool look_leads_through(const char *name, look_in_fn is_in, const void *ctx)
{
	char at[PATH_MAX], text[PATH_MAX], dir[PATH_MAX];
	int n;

	(void)snprintf(at, sizeof(at), "%s", name);
	for (int i = 0; i < LINKS_MAX; i++) {
		struct path_part parent = path_dirname(at);

		if (is_in(ctx, at))
			return true;
		(void)snprintf(text, sizeof(text), "%.*s", (int)parent.n,
			       parent.s);
		if (look_real(text, dir) < 0 ||
		    path_join(dir, path_basename(at).s, text, sizeof(text)) < 0)
			return true;
		if (is_in(ctx, text))
			return true;
		n = (int)sys_readlinkat(AT_FDCWD, text, at, sizeof(at));
		if (n < 0)
			return n != -EINVAL;
		if (path_is_absolute(at))
			continue;
		n = snprintf(text, sizeof(text), "%s/%s", dir, at);
		if (n < 0 || (size_t)n >= sizeof(text))
			return true;
		memcpy(at, text, (size_t)n + 1);
	}
	return true;
}

bool look_is_chosen_in(const char *word, const char *path_list, const char *cwd,
		       look_in_fn is_in, const void *ctx)
{
	char found[PATH_MAX], path[PATH_MAX], real[PATH_MAX];

	if (strchr(word, '/'))
		(void)snprintf(found, sizeof(found), "%s", word);
	else if (!word[0] || look_in_list(word, path_list, cwd, found) < 0)
		return false;
	if (full_path(found, cwd, path) < 0)
		return true;
	if (look_real(path, real) < 0)
		return is_in(ctx, path);
	return is_in(ctx, path) || is_in(ctx, real) ||
	       look_leads_through(found, is_in, ctx) ||
	       look_leads_through(path, is_in, ctx);
}
