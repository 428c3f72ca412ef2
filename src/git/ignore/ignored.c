/* SPDX-License-Identifier: Apache-2.0 */
#include "git/ignore/ignored.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "git/ignore/ignorefile.h"
#include "git/ignore/tracked.h"
#include "sys/attr.h"
#include "sys/place.h"
#include "tree/access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A stack of levels, one per directory from the base's top to the directory of
 * the current path.  A level is judged once, when it is entered.  For an
 * excluded level nothing is read, and nothing below it can be included again.
 * Else it has the rules of its `.gitignore`, and if it has a `.git` it begins a
 * repository: rules above do not count.
 *
 * Files of the base are the user's, but an agent may have written them before a
 * commit.  No link is followed.  A file that is too large, and files beyond a
 * number, have no rules.
 */
#define FILE_MAX      ((uint64_t)1 << 20)
#define FILES_SUM_MAX ((uint64_t)16 << 20)
#define LEVELS_MAX    ((size_t)1 << 17)
#define GITDIR	      "gitdir:"

struct repository {
	size_t level; /* that it begins at */
	size_t len;   /* of that path, with the slash; 0: the base's top */
	char *git;    /* its directory below the base; NULL: outside */
	struct ignore_file exclude;
	uint64_t size; /* of it */
	struct tracked tracked;
	bool has_tracked; /* they were read */
	bool is_unknown;  /* its index: nothing is ignored */
};

struct level {
	size_t len; /* of its path in `path`; 0: the base's top */
	struct ignore_file file;
	uint64_t size;	/* of it */
	size_t top;	/* not 0: excluded, as struct ignored says */
	bool is_absent; /* not in the base */
	bool is_git;	/* in a `.git` */
};

struct ignored {
	int base;
	const struct ignored_outside *outside;
	struct buf path; /* of the deepest level */
	struct level *levels;
	size_t depth;
	struct repository *repositories;
	size_t n_repositories;
	uint64_t size; /* of all files that are kept */
	uint64_t work; /* that is left */
	uint64_t n_unjudged;
};

struct ignored *ignored_new(int base, const struct ignored_outside *outside)
{
	struct ignored *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->base = base;
	x->outside = outside;
	x->work = IGNORED_WORK;
	buf_init(&x->path, PATH_TREE_MAX);
	return x;
}

static void drop_repository(struct ignored *x)
{
	struct repository *repo = &x->repositories[--x->n_repositories];

	x->size -= repo->size;
	free(repo->git);
	ignore_file_done(&repo->exclude);
	tracked_done(&repo->tracked);
}

static void drop_level(struct ignored *x)
{
	struct level *level = &x->levels[--x->depth];

	x->size -= level->size;
	ignore_file_done(&level->file);
	while (x->n_repositories > 0 &&
	       x->repositories[x->n_repositories - 1].level >= x->depth)
		drop_repository(x);
}

void ignored_free(struct ignored *x)
{
	if (!x)
		return;
	while (x->depth > 0)
		drop_level(x);
	free(x->levels);
	free(x->repositories);
	buf_done(&x->path);
	free(x);
}

static int no_memory(struct hb_error *err)
{
	return hb_fail(err, -ENOMEM, "cannot tell which files are ignored");
}

/* A list of patterns; what cannot be read says nothing. */
static int read_list(struct ignored *x, int dir, const char *name,
		     struct ignore_file *ret, uint64_t *ret_size,
		     struct hb_error *err)
{
	auto_fd int fd = -1;
	uint64_t size = 0;
	char *text;
	ssize_t n;

	*ret_size = 0;
	fd = access_open_regular(dir, name, &size);
	if (fd < 0 || size > FILE_MAX || x->size + size > FILES_SUM_MAX)
		return 0;
	text = malloc((size_t)size + 1);
	if (!text)
		return no_memory(err);
	n = sys_pread_full(fd, text, (size_t)size, 0);
	if (n < 0) {
		free(text);
		return 0;
	}
	text[n] = '\0';
	if (ignore_file_parse(text, (size_t)n, ret) < 0)
		return no_memory(err);
	*ret_size = size;
	return 0;
}

/* One line of a small file, without its end.  -ENOENT: no such line. */
static int read_line(int dir, const char *name, char *ret, size_t size)
{
	auto_fd int fd = -1;
	uint64_t length = 0;
	ssize_t n;

	fd = access_open_regular(dir, name, &length);
	n = fd < 0 ? fd : sys_pread_full(fd, ret, size - 1, 0);
	if (n < 0 || (size_t)n >= size - 1 || memchr(ret, '\0', (size_t)n))
		return -ENOENT;
	ret[n] = '\0';
	ret[strcspn(ret, "\r\n")] = '\0';
	return ret[0] ? 0 : -ENOENT;
}

/*
 * What `named`, absolute or from the directory `from` of the base, is below the
 * base; -ENOENT: it is not below.  By text: it is opened as such a path is.
 */
static int find_below(const struct ignored *x, const char *from, size_t len,
		      const char *named, char *ret)
{
	char whole[2 * PATH_MAX], top[PATH_MAX];
	ssize_t n = 0;
	int r;

	if (path_is_absolute(named)) {
		n = sys_fd_path(x->base, top, sizeof(top));
		if (n < 0 ||
		    path_normalise(named, PATH_DOTS_FOLD, whole,
				   sizeof(whole)) < 0 ||
		    !path_is_beneath(whole, top) || !whole[n])
			return -ENOENT;
		r = path_join("", whole + n, ret, PATH_MAX);
	} else {
		r = len < PATH_MAX
			    ? snprintf(whole, sizeof(whole), "%.*s%s%s",
				       (int)len, from, len ? "/" : "", named)
			    : -ENOENT;
		if (r > 0 && (size_t)r < sizeof(whole))
			r = path_normalise(whole, PATH_DOTS_FOLD, ret,
					   PATH_MAX);
	}
	return r <= 0 || path_has_dotdot(ret) ? -ENOENT : 0;
}

static int open_git(const struct ignored *x, const struct repository *repo)
{
	return repo->git ? access_open_below(x->base, repo->git,
					     strlen(repo->git), O_PATH, NULL)
			 : access_open_below(x->outside->git, "", 0, O_PATH,
					     NULL);
}

/* info/exclude is that of the repository, not of a worktree. */
static int open_info(const struct ignored *x, const struct repository *repo)
{
	char common[PATH_MAX], line[PATH_MAX];
	auto_fd int git = -1;

	if (!repo->git)
		return access_open_below(x->outside->common, "info", 4, O_PATH,
					 NULL);
	git = open_git(x, repo);
	if (git < 0)
		return git;
	if (read_line(git, "commondir", line, sizeof(line)) < 0)
		return access_open_below(git, "info", 4, O_PATH, NULL);
	if (find_below(x, repo->git, strlen(repo->git), line, common) < 0 ||
	    path_join(common, "info", line, sizeof(line)) < 0)
		return -ENOENT;
	return access_open_below(x->base, line, strlen(line), O_PATH, NULL);
}

/* Where the git directory is; the one of a file may be anywhere. */
static int find_git(struct ignored *x, int dir, size_t len,
		    const struct sys_attr *a, struct repository *repo,
		    struct hb_error *err)
{
	char line[PATH_MAX], found[PATH_MAX];
	const char *named = line + strlen(GITDIR);
	int r;

	if (S_ISDIR(a->mode)) {
		r = find_below(x, buf_str(&x->path), len, ".git", found);
	} else if (S_ISREG(a->mode)) {
		r = read_line(dir, ".git", line, sizeof(line));
		if (r < 0 || strncmp(line, GITDIR, strlen(GITDIR)) != 0)
			return 0;
		named += strspn(named, " ");
		r = find_below(x, buf_str(&x->path), len, named, found);
		if (r < 0 && len == 0 && x->outside) {
			repo->is_unknown = false;
			return 0;
		}
	} else {
		return 0;
	}
	if (r < 0)
		return 0;
	repo->git = strdup(found);
	if (!repo->git)
		return no_memory(err);
	repo->is_unknown = false;
	return 0;
}

static int add_repository(struct ignored *x, int dir, size_t len,
			  const struct sys_attr *a, struct hb_error *err)
{
	struct repository *repo;
	auto_fd int info = -1;
	int r;

	if (grow(x->repositories, x->n_repositories) < 0)
		return no_memory(err);
	repo = &x->repositories[x->n_repositories++];
	*repo = (struct repository){ .level = x->depth - 1,
				     .len = len > 0 ? len + 1 : 0,
				     .is_unknown = true };
	r = find_git(x, dir, len, a, repo, err);
	if (r < 0 || repo->is_unknown)
		return r;
	info = open_info(x, repo);
	if (info >= 0)
		r = read_list(x, info, "exclude", &repo->exclude, &repo->size,
			      err);
	x->size += repo->size;
	return r;
}

/*
 * What the rules say of a path whose directory is the deepest level.  Once the
 * work is used up they say nothing: a rule that was not looked at could include
 * the path again.
 */
static enum ignore_verdict judge(struct ignored *x, const char *path,
				 size_t len, bool is_directory)
{
	const struct repository *repo = &x->repositories[x->n_repositories - 1];
	enum ignore_verdict verdict = IGNORE_SAYS_NOTHING;

	for (size_t i = x->depth;
	     verdict == IGNORE_SAYS_NOTHING && i > repo->level; i--) {
		const struct level *level = &x->levels[i - 1];
		size_t skip = level->len > 0 ? level->len + 1 : 0;

		verdict = ignore_file_judge(&level->file, path + skip,
					    len - skip, is_directory, &x->work);
	}
	if (verdict == IGNORE_SAYS_NOTHING)
		verdict = ignore_file_judge(&repo->exclude, path + repo->len,
					    len - repo->len, is_directory,
					    &x->work);
	return x->work > 0 ? verdict : IGNORE_SAYS_NOTHING;
}

static bool is_excluded(struct ignored *x, const char *path, size_t len,
			bool is_directory)
{
	return x->n_repositories > 0 &&
	       !x->repositories[x->n_repositories - 1].is_unknown &&
	       judge(x, path, len, is_directory) == IGNORE_IS_EXCLUDED;
}

/* Reads what the directory of the deepest level says. */
static int read_level(struct ignored *x, int dir, struct hb_error *err)
{
	struct level *level = &x->levels[x->depth - 1];
	struct sys_attr a;
	int r = 0;

	if (sys_attr_at(dir, ".git", &a) == 0)
		r = add_repository(x, dir, level->len, &a, err);
	if (r < 0 || x->n_repositories == 0)
		return r;
	r = read_list(x, dir, ".gitignore", &level->file, &level->size, err);
	x->size += level->size;
	return r;
}

static bool is_git_name(const char *path, size_t start, size_t end)
{
	return end - start == 4 && memcmp(path + start, ".git", 4) == 0;
}

/*
 * Enters the directory of `len` bytes of the path, whose own is the deepest
 * level; `dir` is it in the base, if that is known already.
 */
static int enter(struct ignored *x, const char *path, size_t len, int dir,
		 struct hb_error *err)
{
	const struct level *above = x->depth ? &x->levels[x->depth - 1] : NULL;
	struct level level = { .len = len };
	auto_fd int fd = -1;
	int r;

	if (above) {
		size_t start = above->len > 0 ? above->len + 1 : 0;

		level.is_absent = above->is_absent;
		level.is_git = above->is_git || is_git_name(path, start, len);
		level.top = above->top;
		if (!level.top && !level.is_git &&
		    is_excluded(x, path, len, true))
			level.top = len;
	}
	if (x->depth >= LEVELS_MAX || grow(x->levels, x->depth) < 0)
		return no_memory(err);
	buf_cut(&x->path, 0);
	r = buf_add(&x->path, path, len);
	if (r < 0)
		return no_memory(err);
	x->levels[x->depth++] = level;
	if (level.top || level.is_git || level.is_absent)
		return 0;
	if (dir < 0) {
		fd = access_open_below(x->base, path, len, O_PATH, NULL);
		dir = fd;
	}
	if (dir < 0) {
		x->levels[x->depth - 1].is_absent = true;
		return 0;
	}
	return read_level(x, dir, err);
}

static bool is_above(const struct ignored *x, const char *path)
{
	size_t len = x->levels[x->depth - 1].len;

	return len == 0 ||
	       (strncmp(path, buf_str(&x->path), len) == 0 && path[len] == '/');
}

/* Makes the directory of the path the deepest level. */
static int go_to(struct ignored *x, const struct ignored_question *q,
		 struct hb_error *err)
{
	const char *slash = strrchr(q->path, '/');
	size_t len = slash ? (size_t)(slash - q->path) : 0;
	int r = 0;

	while (x->depth > 0 && !is_above(x, q->path))
		drop_level(x);
	if (x->depth == 0)
		r = enter(x, q->path, 0, x->base, err);
	while (r >= 0 && x->levels[x->depth - 1].len < len) {
		size_t at = x->levels[x->depth - 1].len;
		const char *start = q->path + (at > 0 ? at + 1 : 0);
		size_t next = (size_t)(strchrnul(start, '/') - q->path);

		r = enter(x, q->path, next, next == len ? q->dir : -1, err);
	}
	return r;
}

/* 1: in the index, or unknown; 0: not. */
static int is_tracked(struct ignored *x, const char *path, size_t len,
		      struct hb_error *err)
{
	struct repository *repo = &x->repositories[x->n_repositories - 1];
	int r;

	if (!repo->has_tracked) {
		auto_fd int git = open_git(x, repo);

		/* One index at a time, however many lie in each other. */
		for (size_t i = 0; i < x->n_repositories; i++) {
			tracked_done(&x->repositories[i].tracked);
			x->repositories[i].has_tracked = false;
		}
		r = git < 0 ? 0 : tracked_read(&repo->tracked, git, err);
		if (r < 0)
			return r;
		repo->has_tracked = true;
		repo->is_unknown = r == 0;
	}
	return repo->is_unknown ||
	       tracked_has(&repo->tracked, path + repo->len, len - repo->len);
}

int ignored_ask(struct ignored *x, const struct ignored_question *q,
		size_t *ret_top, struct hb_error *err)
{
	const struct level *level;
	size_t len = strlen(q->path), top;
	int r;

	if (strcmp(q->path, ".") == 0)
		return 0;
	r = go_to(x, q, err);
	if (r < 0)
		return r;
	level = &x->levels[x->depth - 1];
	top = level->top;
	if (!top && !level->is_git &&
	    !is_git_name(q->path, level->len > 0 ? level->len + 1 : 0, len) &&
	    is_excluded(x, q->path, len, q->is_directory))
		top = len;
	if (!top) {
		x->n_unjudged += x->work == 0 && x->n_repositories > 0;
		return 0;
	}
	r = is_tracked(x, q->path, len, err);
	if (r != 0)
		return r < 0 ? r : 0;
	*ret_top = top;
	return 1;
}

uint64_t ignored_unjudged(const struct ignored *x)
{
	return x->n_unjudged;
}
