/* SPDX-License-Identifier: Apache-2.0 */
#include "host/worktree.h"

#include "base/auto.h"
#include "base/path.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PREFIX	   "gitdir: "
#define CONFIG_MAX 16384 /* more than git writes for a submodule */
#define INSIDE	   (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_XDEV)

struct worktree {
	const char *workspace;
	uid_t owner;
	char git_dir[PATH_MAX]; /* of this worktree */
	int git, common;	/* open directories, or -1 */
};

/* The path that a descriptor leads to. */
static int path_of(int fd, char *ret)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return (int)sys_readlinkat(AT_FDCWD, name, ret, PATH_MAX);
}

static bool is_owned_by(uid_t owner, int fd, mode_t type)
{
	struct stat st;

	return sys_fstat(fd, &st) >= 0 && st.st_uid == owner &&
	       (st.st_mode & S_IFMT) == type;
}

static bool is_owned(const struct worktree *w, int fd, mode_t type)
{
	return is_owned_by(w->owner, fd, type);
}

/* One line of a small file of the owner's, without its end. */
static int read_line(const struct worktree *w, int dir, const char *name,
		     char *ret, size_t size)
{
	auto_fd int fd = -1;
	ssize_t n;

	fd = sys_openat2(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			 INSIDE);
	if (fd < 0)
		return fd;
	if (!is_owned(w, fd, S_IFREG))
		return -EPERM;
	n = sys_read(fd, ret, size - 1);
	if (n < 0)
		return (int)n;
	if ((size_t)n >= size - 1 || memchr(ret, '\0', (size_t)n))
		return -EINVAL;
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return ret[0] ? 0 : -EINVAL;
}

/* Opens the directory `path`, relative to `from`; `ret` is where that is. */
static int open_dir(const struct worktree *w, const char *from,
		    const char *path, char *ret)
{
	char joined[PATH_MAX];
	int fd, r;

	r = path_is_absolute(path)
		    ? path_join(path, "", joined, sizeof(joined))
		    : path_join(from, path, joined, sizeof(joined));
	if (r < 0)
		return r;
	fd = sys_openat(AT_FDCWD, joined, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	if (!is_owned(w, fd, S_IFDIR) || path_of(fd, ret) < 0) {
		sys_close(fd);
		return -EPERM;
	}
	return fd;
}

/* Whether the repository's side names this very worktree. */
static bool points_back(const struct worktree *w, int git_dir)
{
	char line[PATH_MAX], real[PATH_MAX], *slash;
	auto_fd int fd = -1;

	if (read_line(w, git_dir, "gitdir", line, sizeof(line)) < 0)
		return false;
	slash = strrchr(line, '/');
	if (!slash || strcmp(slash, "/.git") != 0)
		return false;
	*slash = '\0';
	fd = open_dir(w, w->git_dir, line[0] ? line : "/", real);
	return fd >= 0 && strcmp(real, w->workspace) == 0;
}

/* The value of a line "NAME = VALUE" of a section, or NULL. */
static const char *value_in(char *line, const char *name)
{
	size_t n = strlen(name);
	char *end;

	line += strspn(line, " \t");
	if (strncasecmp(line, name, n) != 0)
		return NULL;
	line += n + strspn(line + n, " \t");
	if (*line != '=')
		return NULL;
	line += 1 + strspn(line + 1, " \t");
	end = line + strlen(line);
	while (end > line && strchr(" \t\r", end[-1]))
		*--end = '\0';
	/* Quotes, escapes and comments: git writes none for ordinary names. */
	return *line && !line[strcspn(line, "\"\\#;")] ? line : NULL;
}

/*
 * A submodule's repository names its directory in `core.worktree`; it is not
 * shared, and so its own common directory.
 */
static bool has_submodule(const struct worktree *w, int git_dir)
{
	char text[CONFIG_MAX], real[PATH_MAX];
	char *line, *rest = text;
	const char *found = NULL;
	auto_fd int fd = -1;
	auto_fd int dir = -1;
	bool is_core = false;
	ssize_t n;

	fd = sys_openat2(git_dir, "config", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			 INSIDE);
	if (fd < 0 || !is_owned(w, fd, S_IFREG))
		return false;
	n = sys_read(fd, text, sizeof(text) - 1);
	if (n < 0 || (size_t)n >= sizeof(text) - 1 ||
	    memchr(text, '\0', (size_t)n))
		return false;
	text[n] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		const char *value = value_in(line, "worktree");

		if (line[0] == '[')
			is_core = strncasecmp(line, "[core]", 6) == 0;
		else if (is_core && value)
			found = value;
	}
	dir = found ? open_dir(w, w->git_dir, found, real) : -1;
	return dir >= 0 && strcmp(real, w->workspace) == 0;
}

bool worktree_is_repository(int dir, uid_t owner)
{
	static const struct {
		const char *name;
		int flags;
		mode_t type;
	} parts[] = {
		{ "HEAD", O_PATH, S_IFREG },
		{ "objects", O_PATH | O_DIRECTORY, S_IFDIR },
		{ "refs", O_PATH | O_DIRECTORY, S_IFDIR },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		auto_fd int fd = -1;

		fd = sys_openat2(dir, parts[i].name, parts[i].flags, 0, INSIDE);
		if (fd < 0 || !is_owned_by(owner, fd, parts[i].type))
			return false;
	}
	return true;
}

static const char *check(struct worktree *w, const char *named, char *ret)
{
	char line[PATH_MAX];

	w->git = open_dir(w, w->workspace, named, w->git_dir);
	if (w->git < 0)
		return "it names no directory of the same owner";
	/* Inside already: a repository that was moved here. */
	if (view_lies_in(w->git_dir, w->workspace))
		return "";
	if (has_submodule(w, w->git))
		(void)snprintf(line, sizeof(line), ".");
	else if (!points_back(w, w->git))
		return "the directory that it names does not name it back";
	else if (read_line(w, w->git, "commondir", line, sizeof(line)) < 0)
		return "the directory that it names has no 'commondir'";
	w->common = open_dir(w, w->git_dir, line, ret);
	if (w->common < 0 || !view_lies_in(w->git_dir, ret))
		return "its common directory is not above it";
	if (!worktree_is_repository(w->common, w->owner))
		return "its common directory is no repository of the same owner";
	if (view_lies_in(w->workspace, ret) || view_lies_in(ret, w->workspace))
		return "its common directory and the workspace overlap";
	return NULL;
}

/* As worktree_find(); the directories are open afterwards in any case. */
static int find(struct worktree *w, char *ret, const char **ret_why)
{
	char line[PATH_MAX + sizeof(PREFIX)];
	auto_fd int top = -1;
	struct stat st;
	int r;

	*ret_why = NULL;
	top = sys_openat(AT_FDCWD, w->workspace, O_PATH | O_DIRECTORY, 0);
	if (top < 0 || sys_fstatat(top, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	/* Root takes the word of whose worktree it is. */
	w->owner = sys_getuid();
	if (w->owner == 0)
		w->owner = st.st_uid;
	r = read_line(w, top, ".git", line, sizeof(line));
	if (r < 0 || strncmp(line, PREFIX, strlen(PREFIX)) != 0) {
		*ret_why = "it is no file of git's";
		return 0;
	}
	*ret_why = check(w, line + strlen(PREFIX), ret);
	if (!*ret_why)
		return 1;
	if (!**ret_why)
		*ret_why = NULL;
	return 0;
}

int worktree_find(const char *workspace, char *ret, const char **ret_why)
{
	struct worktree w = { .workspace = workspace, .git = -1, .common = -1 };
	int r = find(&w, ret, ret_why);

	fd_closep(&w.git);
	fd_closep(&w.common);
	return r;
}

int worktree_open(const char *workspace, int *ret_git, int *ret_common)
{
	struct worktree w = { .workspace = workspace, .git = -1, .common = -1 };
	char common[PATH_MAX];
	const char *why;
	int r = find(&w, common, &why);

	if (r > 0) {
		*ret_git = take_fd(&w.git);
		*ret_common = take_fd(&w.common);
	}
	fd_closep(&w.git);
	fd_closep(&w.common);
	return r;
}
