/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/git/repos.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "gate/changed_file.h"
#include "git/gitunit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS	  "cannot look at the repository"
#define REFS	  "refs/"
#define STASH_LOG "logs/refs/stash"
#define WORKTREES "worktrees/"

void repos_done(struct repos *repos)
{
	for (size_t i = 0; i < repos->n; i++) {
		struct repo *repo = &repos->list[i];

		for (size_t k = 0; k < repo->n_indexes; k++) {
			free(repo->indexes[k].path);
			fd_closep(&repo->indexes[k].old);
			fd_closep(&repo->indexes[k].new);
		}
		free(repo->indexes);
		free(repo->prefix);
		free(repo->packed);
		gitrefs_done(&repo->touched);
		gitrefs_done(&repo->heads);
		gitrefs_done(&repo->stashed);
		gitrefs_done(&repo->known);
	}
	free(repos->list);
	*repos = (struct repos){ 0 };
}

/*
 * The path from the repository's git directory on.  A linked worktree has one
 * of its own, in that.
 */
static const char *in_repository(const char *path, const char *rest)
{
	const char *at = rest;

	/* Two names back: "worktrees/NAME/". */
	for (int names = 0; names < 2; names++) {
		if (at == path)
			return rest;
		for (at--; at > path && at[-1] != '/';)
			at--;
	}
	return strncmp(at, WORKTREES, strlen(WORKTREES)) == 0 ? at : rest;
}

/* NULL: there are too many, or no memory. */
static struct repo *find(struct repos *repos, const char *path,
			 const char *rest)
{
	size_t n = (size_t)(rest - path);
	struct repo *repo;

	n -= n > 0;
	for (size_t i = 0; i < repos->n; i++) {
		repo = &repos->list[i];
		if (strlen(repo->prefix) == n &&
		    strncmp(repo->prefix, path, n) == 0)
			return repo;
	}
	repos->has_more = repos->n == REPOS_MAX;
	if (repos->has_more || grow(repos->list, repos->n) < 0)
		return NULL;
	repo = &repos->list[repos->n];
	*repo = (struct repo){ .prefix = strndup(path, n) };
	if (!repo->prefix)
		return NULL;
	repos->n++;
	return repo;
}

/*
 * What is there on that side, with a NUL; NULL: nothing.  What the session has,
 * and is too large or cannot be read, is noted.
 */
static int read_side(struct repo *repo, struct look *look, enum look_side side,
		     size_t max, char **ret_text, struct hb_error *err)
{
	const struct change *c = &look->change;
	size_t n;
	int r;

	*ret_text = NULL;
	if (!look_is_file(look, side))
		return 0;
	r = (side == LOOK_NEW ? c->new.size : c->old.size) > max
		    ? -E2BIG
		    : look_text(look, side, ret_text, &n, err);
	if (r < 0 && !look_is_fatal(r)) {
		if (side == LOOK_NEW)
			repo->unread = "its references cannot be read";
		r = 0;
	}
	return r;
}

static int add_ref(struct repo *repo, struct gitrefs *refs, const char *name,
		   const struct git_id *id)
{
	int r = gitrefs_add(refs, name, id);

	if (r != -EFBIG)
		return r;
	repo->unread = "it has too many references";
	return 0;
}

/* A reference, or a HEAD with the id of a commit. */
static int note_ref(struct repo *repo, struct gitrefs *refs,
		    enum look_side side, const char *name, struct look *look,
		    struct hb_error *err)
{
	auto_free char *text = NULL;
	struct git_id id = { "" };
	const char *other;
	int r = read_side(repo, look, side, GITREFS_FILE_MAX, &text, err);

	/* git follows it, to an id in any file. */
	if (look->change.new.type == ENTRY_LINK)
		repo->unread = "a link is in the place of a reference";
	/* The name of another reference moves with that. */
	if (r >= 0 && text && gitref_parse(text, &id, &other) != 1)
		id.hex[0] = '\0';
	return r < 0 ? r : add_ref(repo, refs, name, &id);
}

/* Each line has an old and a new id: the new one is a stash. */
static int note_stashes(struct repo *repo, struct gitrefs *refs,
			enum look_side side, struct look *look,
			struct hb_error *err)
{
	auto_free char *text = NULL;
	int r = read_side(repo, look, side, REPO_LOG_MAX, &text, err);
	const char *line = text;

	while (r >= 0 && line && *line) {
		const char *blank = line + strcspn(line, " \n");
		struct git_id id;

		if (*blank == ' ' &&
		    git_id_parse(blank + 1, strcspn(blank + 1, " \n"), &id))
			r = add_ref(repo, refs, "refs/stash", &id);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return r;
}

static int note_index(struct repo *repo, const char *path, struct look *look,
		      struct hb_error *err)
{
	struct repo_index *index;
	int fds[LOOK_SIDES] = { -1, -1 };

	if (repo->n_indexes == REPO_INDEXES_MAX) {
		repo->unread = "it has too many indexes";
		return 0;
	}
	if (!look_is_file(look, LOOK_NEW))
		return 0;
	for (int side = 0; side < LOOK_SIDES; side++) {
		int fd = look_is_file(look, (enum look_side)side)
				 ? look_open(look, (enum look_side)side, err)
				 : -ENOENT;

		if (look_is_fatal(fd))
			return fd;
		if (fd >= 0)
			fds[side] = fd;
	}
	if (fds[LOOK_NEW] < 0) {
		repo->unread = "its index cannot be read";
		return 0;
	}
	if (grow(repo->indexes, repo->n_indexes) < 0)
		return -ENOMEM;
	index = &repo->indexes[repo->n_indexes];
	*index = (struct repo_index){ .path = strdup(path),
				      .old = -1,
				      .new = -1,
				      .old_size = look->change.old.size,
				      .new_size = look->change.new.size };
	if (!index->path)
		return -ENOMEM;
	repo->n_indexes++;
	index->old = take_fd(&look->fds[LOOK_OLD]);
	index->new = take_fd(&look->fds[LOOK_NEW]);
	return 0;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/* The same path without "worktrees/NAME/". */
static const char *in_worktree(const char *path)
{
	const char *name = path + strlen(WORKTREES);
	const char *slash = strncmp(path, WORKTREES, strlen(WORKTREES)) == 0
				    ? strchr(name, '/')
				    : NULL;

	return slash ? slash + 1 : path;
}

/*
 * A HEAD of any kind, a reference of a worktree's own, what a rebase stashed.
 * ORIG_HEAD names a commit from before.
 */
static bool is_head(const char *path)
{
	const char *own = in_worktree(path);
	const bool is_ref = own != path && strncmp(own, REFS, 5) == 0;

	return (!strchr(own, '/') && ends_with(own, "HEAD") &&
		strcmp(own, "ORIG_HEAD") != 0) ||
	       is_ref || ends_with(own, "/autostash");
}

static int note_file(struct repo *repo, const char *path, struct look *look,
		     struct hb_error *err)
{
	int r = 0;

	if (strncmp(path, REFS, strlen(REFS)) == 0)
		return note_ref(repo, &repo->touched, LOOK_NEW, path, look,
				err);
	if (strcmp(path, "packed-refs") == 0) {
		repo->has_packed = true;
		free(repo->packed);
		return read_side(repo, look, LOOK_NEW, GITREFS_PACKED_MAX,
				 &repo->packed, err);
	}
	if (strcmp(in_worktree(path), "index") == 0)
		return note_index(repo, path, look, err);
	if (strcmp(path, STASH_LOG) == 0) {
		r = note_stashes(repo, &repo->known, LOOK_OLD, look, err);
		if (r >= 0)
			r = note_stashes(repo, &repo->stashed, LOOK_NEW, look,
					 err);
	} else if (is_head(path)) {
		r = note_ref(repo, &repo->known, LOOK_OLD, path, look, err);
		if (r >= 0)
			r = note_ref(repo, &repo->heads, LOOK_NEW, path, look,
				     err);
	}
	return r;
}

int repos_note(struct repos *repos, struct look *look, bool is_git,
	       struct hb_error *err)
{
	const char *path = look->change.path;
	const char *rest =
		git_path_in_unit(is_git ? GIT_TOP : GIT_OUTSIDE, path);
	struct repo *repo;
	int r;

	if (!rest || look->change.new.type == ENTRY_DIR ||
	    (look->change.new.type == ENTRY_NONE &&
	     look->change.old.type == ENTRY_DIR) ||
	    strncmp(rest, "objects/", 8) == 0)
		return 0;
	rest = in_repository(path, rest);
	repo = find(repos, path, rest);
	if (!repo)
		return repos->has_more ? 0 : hb_fail(err, -ENOMEM, WORDS);
	r = note_file(repo, rest, look, err);
	return r == -ENOMEM ? hb_fail(err, r, WORDS) : r;
}
