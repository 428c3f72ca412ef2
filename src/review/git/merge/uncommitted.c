/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/uncommitted.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "changes/changes.h"
#include "review/git/merge/aside_files.h"
#include "review/git/merge/merge.h"
#include "session/session.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/content.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX ((size_t)256 << 20)
#define EXECUTES 0100
#define INSIDE	 (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS)

struct copying {
	const struct merge_repo *repo;
	const struct resource *tree; /* of the session */
	int upper;		     /* of the git directory, aside */
	char *dir;		     /* in that: UNCOMMITTED_DIR */
	struct buf there, gone;
};

/* Whether some layer or the base has `.git` in that directory. */
static bool has_git(const struct resource *tree, const char *dir, size_t n)
{
	auto_free char *path = NULL;

	if (asprintf(&path, "%.*s/.git", (int)n, dir) < 0) {
		path = NULL;
		return true;
	}
	for (size_t i = 0; i <= tree->n_layers; i++) {
		auto_fd int fd = sys_openat2(
			i < tree->n_layers ? tree->layers[i] : tree->base, path,
			O_PATH | O_NOFOLLOW, 0, INSIDE);

		if (fd >= 0)
			return true;
	}
	return false;
}

/* Hooks and settings are no part of the unit, and in no commit either. */
static bool is_in_git(const char *path)
{
	for (const char *at = path; (at = strstr(at, ".git")); at++)
		if ((at == path || at[-1] == '/') &&
		    (at[4] == '/' || at[4] == '\0'))
			return true;
	return false;
}

/* Of a path that lies in another repository, which has commits of its own. */
static bool is_in_other(const struct merge_repo *repo,
			const struct resource *tree, const char *path)
{
	const char *from = path + strlen(repo->below);

	for (const char *slash = from; (slash = strchr(slash, '/')); slash++)
		if (has_git(tree, path, (size_t)(slash - path)))
			return true;
	return false;
}

bool uncommitted_takes(const struct merge_repo *repo,
		       const struct resource *tree, const struct change *change)
{
	const struct entry *new = &change->new, *old = &change->old;
	enum entry_type type = new->type != ENTRY_NONE ? new->type : old->type;
	bool is_other = change->kind == CHANGE_TIMES ||
			(change->kind == CHANGE_ATTRIBUTES &&
			 !((new->mode ^ old->mode) & EXECUTES));

	return !(change->flags & (CHANGE_GIT | CHANGE_CARRIED | CHANGE_BEGUN |
				  CHANGE_IGNORED)) &&
	       !change_is_top(change) && !is_other &&
	       (type == ENTRY_FILE || type == ENTRY_LINK ||
		change->kind == CHANGE_TYPE) &&
	       strncmp(change->path, repo->below, strlen(repo->below)) == 0 &&
	       !is_in_git(change->path) &&
	       !is_in_other(repo, tree, change->path);
}

static int add(struct copying *c, const struct change *change,
	       struct hb_error *err)
{
	const char *path = change->path + strlen(c->repo->below);
	bool is_there = change->new.type == ENTRY_FILE ||
			change->new.type == ENTRY_LINK;
	struct buf *list = is_there ? &c->there : &c->gone;
	const struct content_place place = {
		.root = c->tree->layers[change->layer],
		.in_layer = true,
		.path = change->path,
		.entry = &change->new,
	};
	auto_free char *to = NULL;

	if (buf_add(list, path, strlen(path) + 1) < 0)
		return hb_fail(err, list->error, "cannot merge");
	if (!is_there)
		return 0;
	if (asprintf(&to, "%s/tree/%s", c->dir, path) < 0) {
		to = NULL;
		return hb_fail(err, -ENOMEM, "cannot merge");
	}
	return aside_copy(&place, c->upper, to,
			  change->new.mode &EXECUTES ? 0755 : 0644, err);
}

static int write_list(const struct copying *c, const char *name,
		      const struct buf *list, struct hb_error *err)
{
	auto_free char *path = NULL;

	if (asprintf(&path, "%s/%s", c->dir, name) < 0) {
		path = NULL;
		return hb_fail(err, -ENOMEM, "cannot merge");
	}
	return aside_write(c->upper, path, buf_str(list), list->len, err);
}

int uncommitted_copy(const struct merge_repo *repo, const struct hb_session *s,
		     struct changes *changes, const struct hb_session *aside,
		     struct hb_error *err)
{
	struct copying c = { .repo = repo,
			     .tree = &s->resources[repo->tree],
			     .upper = aside->resources[repo->resource].upper,
			     .there = BUF_INIT(LIST_MAX),
			     .gone = BUF_INIT(LIST_MAX) };
	struct change change;
	int r = changes_rewind(changes, err);

	if (asprintf(&c.dir, "%s%s" UNCOMMITTED_DIR, repo->prefix,
		     repo->prefix[0] ? "/" : "") < 0)
		return hb_fail(err, -ENOMEM, "cannot merge");
	while (r >= 0 && (r = changes_next(changes, &change, err)) == 1)
		if (uncommitted_takes(repo, c.tree, &change))
			r = add(&c, &change, err);
	if (r >= 0)
		r = write_list(&c, "there", &c.there, err);
	if (r >= 0)
		r = write_list(&c, "gone", &c.gone, err);
	/* A directory to be in, also without a file. */
	if (r >= 0 && c.there.len == 0) {
		auto_free char *path = NULL;

		if (asprintf(&path, "%s/tree/.none", c.dir) < 0)
			path = NULL;
		r = path ? aside_write(c.upper, path, "", 0, err)
			 : hb_fail(err, -ENOMEM, "cannot merge");
	}
	free(c.dir);
	buf_done(&c.there);
	buf_done(&c.gone);
	return r < 0 ? r : changes_rewind(changes, err);
}
