/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/repository.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "git/gitunit.h"
#include "git/objectstore.h"
#include "holdback/session.h"
#include "host/alternates.h"
#include "session/session.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * A reference of the real repository is a file of it, or a line of its
 * packed-refs.  In the session a file that it changed counts before that, and
 * a file that it removed uncovers the line.  So the change set tells all that
 * the session did, and the layers are not listed.
 */

#define WORD	    "cannot look at the repository"
#define OLD_MAX	    4096 /* references of one side that a walk begins at */
#define PACKED	    "packed-refs"
#define HEAD	    "HEAD"
#define MODULES_MAX 256 /* repositories */

void repositories_done(struct repositories *repositories)
{
	for (size_t i = 0; i < repositories->n; i++) {
		struct repository *repo = &repositories->list[i];

		free(repo->prefix);
		free(repo->packed);
		free(repo->head);
		gitrefs_done(&repo->touched);
		gitrefs_done(&repo->heads);
		gitrefs_done(&repo->old);
		gitrefs_done(&repo->new);
		objectstore_free(repo->objects);
	}
	free(repositories->list);
	*repositories = (struct repositories){ 0 };
}

/* `rest` is the end of `path`, in the git directory. */
static struct repository *find(struct repositories *all, size_t resource,
			       const char *path, const char *rest)
{
	size_t n = (size_t)(rest - path);
	struct repository *repo;

	n -= n > 0;
	for (size_t i = 0; i < all->n; i++) {
		repo = &all->list[i];
		if (repo->resource == resource && strlen(repo->prefix) == n &&
		    strncmp(repo->prefix, path, n) == 0)
			return repo;
	}
	if (all->n == MODULES_MAX || grow(all->list, all->n) < 0)
		return NULL;
	repo = &all->list[all->n];
	*repo = (struct repository){ .resource = resource,
				     .prefix = strndup(path, n) };
	if (!repo->prefix)
		return NULL;
	all->n++;
	return repo;
}

/* What the session has there, with a NUL; NULL: nothing, or too much. */
static char *read_new(struct hb_changes *changes,
		      const struct hb_change *change, size_t max)
{
	auto_free char *text = NULL;
	ssize_t n;

	if (change->new.type != HB_TYPE_FILE || change->new.size > max)
		return NULL;
	text = malloc((size_t)change->new.size + 1);
	if (!text)
		return NULL;
	n = hb_changes_read(changes, HB_SIDE_NEW, text,
			    (size_t)change->new.size, 0, NULL);
	if (n < 0)
		return NULL;
	text[n] = '\0';
	return take_ptr(&text);
}

static int touch(struct gitrefs *list, const char *name, const char *text)
{
	auto_free char *copy = text ? strdup(text) : NULL;
	struct git_id id = { "" };
	const char *other;

	if (text && !copy)
		return -ENOMEM;
	/* A name of another reference is not followed: it counts as none. */
	if (copy && gitref_parse(copy, &id, &other) != 1)
		id.hex[0] = '\0';
	return gitrefs_add(list, name, &id);
}

static bool is_ref(const char *rest)
{
	return strncmp(rest, "refs/", 5) == 0;
}

/*
 * Where "worktrees/NAME/…" begins in the path of a linked worktree's own file,
 * whose end is `rest`; else NULL.  Such a worktree has a HEAD, and its
 * references are those of the repository.
 */
static const char *in_worktree(const char *path, const char *rest)
{
	static const char word[] = "worktrees";
	const char *at = rest;

	for (int i = 0; i < 2; i++) {
		if (at == path)
			return NULL;
		for (at--; at > path && at[-1] != '/';)
			at--;
	}
	return strncmp(at, word, strlen(word)) == 0 && at[strlen(word)] == '/'
		       ? at
		       : NULL;
}

static int note_head(struct repositories *all, struct hb_changes *changes,
		     const struct hb_change *change, const char *rest)
{
	const char *name = in_worktree(change->path, rest);
	struct repository *repo =
		find(all, change->resource, change->path, name ? name : rest);
	auto_free char *text = read_new(changes, change, GITREFS_FILE_MAX);
	int r;

	if (!repo)
		return -ENOMEM;
	r = touch(&repo->heads, name ? name : rest, text);
	if (r >= 0 && !name)
		repo->head = take_ptr(&text);
	return r;
}

static int note(struct repositories *all, struct hb_changes *changes,
		const struct hb_change *change, enum git_place root)
{
	const char *rest = git_path_in_unit(root, change->path);
	const char *from =
		change->from ? git_path_in_unit(root, change->from) : NULL;
	struct repository *repo;
	int r = 0;

	if (from && is_ref(from)) {
		repo = find(all, change->resource, change->from, from);
		r = repo ? touch(&repo->touched, from, NULL) : -ENOMEM;
	}
	if (r < 0 || !rest)
		return r;
	if (strcmp(rest, HEAD) == 0)
		return note_head(all, changes, change, rest);
	if (!(is_ref(rest) || strcmp(rest, PACKED) == 0) ||
	    in_worktree(change->path, rest))
		return 0;
	repo = find(all, change->resource, change->path, rest);
	if (!repo)
		return -ENOMEM;
	if (is_ref(rest)) {
		auto_free char *text =
			read_new(changes, change, GITREFS_FILE_MAX);

		return touch(&repo->touched, rest, text);
	}
	repo->has_packed = true;
	repo->packed = read_new(changes, change, GITREFS_PACKED_MAX);
	repo->is_unknown = change->new.type == HB_TYPE_FILE && !repo->packed;
	return 0;
}

/*
 * Objects that the real repository borrows; what the session says of that does
 * not count.  Each object is compared with its name.
 */
static int add_borrowed(struct objectstore *objects,
			const struct resource *resource, const char *prefix)
{
	auto_alternates struct alternates found = { 0 };
	char path[PATH_MAX];
	int r = path_join(resource->record->source, prefix, path, sizeof(path));

	if (r < 0)
		return 0;
	r = alternates_find(path, &found);
	for (size_t i = 0; r >= 0 && i < found.n; i++) {
		auto_fd int dir = -1;

		/* Its last name is "objects". */
		*strrchr(found.list[i].real, '/') = '\0';
		dir = sys_openat(AT_FDCWD, found.list[i].real,
				 O_PATH | O_DIRECTORY, 0);
		if (dir >= 0)
			r = objectstore_add(objects, dir, "");
	}
	return r;
}

int repository_objects(const struct resource *resource, const char *prefix,
		       struct objectstore **ret_objects)
{
	struct objectstore *objects = objectstore_new();
	int r = 0;

	*ret_objects = objects;
	if (!objects)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < resource->n_layers; i++)
		r = objectstore_add(objects, resource->layers[i], prefix);
	if (r >= 0)
		r = objectstore_add(objects, resource->base, prefix);
	return r < 0 ? r : add_borrowed(objects, resource, prefix);
}

static int fill(struct repository *repo, const struct resource *resource)
{
	const struct gitrefs_session session = {
		.touched = &repo->touched,
		.heads = &repo->heads,
		.packed = repo->packed,
		.has_packed = repo->has_packed,
	};
	int r;

	gitrefs_sort(&repo->touched);
	gitrefs_sort(&repo->heads);
	r = gitrefs_sides(&session, resource->base, repo->prefix, &repo->old,
			  &repo->new);
	if (r >= 0)
		r = repository_objects(resource, repo->prefix, &repo->objects);
	if (r < 0 && r != -ENOMEM) {
		repo->is_unknown = true;
		gitrefs_done(&repo->old);
		gitrefs_done(&repo->new);
		r = 0;
	}
	return r;
}

int repositories_find(struct hb_session *s, struct hb_changes *changes,
		      struct repositories *ret, struct hb_error *err)
{
	struct hb_change change;
	int r, more;

	r = hb_changes_rewind(changes, err);
	if (r < 0)
		return r;
	while ((more = hb_changes_next(changes, &change, err)) == 1) {
		const struct resource *resource =
			&s->resources[change.resource];

		if (!change.is_git || change.is_directory ||
		    resource->is_gone || change.kind == 't' ||
		    change.kind == 'P')
			continue;
		r = note(ret, changes, &change, git_root(resource->is_git));
		if (r < 0)
			return hb_fail(err, r, WORD);
	}
	for (size_t i = 0; more >= 0 && r >= 0 && i < ret->n; i++)
		r = fill(&ret->list[i], &s->resources[ret->list[i].resource]);
	return more < 0 ? more : r < 0 ? hb_fail(err, r, WORD) : 0;
}

/* The ids of a list, at most OLD_MAX of them; the caller frees them. */
static int ids_of(const struct gitrefs *refs, struct git_id **ret_ids,
		  size_t *ret_n)
{
	*ret_n = refs->n < OLD_MAX ? refs->n : OLD_MAX;
	*ret_ids = calloc(*ret_n + 1, sizeof(**ret_ids));
	for (size_t i = 0; *ret_ids && i < *ret_n; i++)
		(*ret_ids)[i] = refs->refs[i].id;
	return *ret_ids ? 0 : -ENOMEM;
}

static int commits_beside(const struct repository *repo,
			  const struct git_id *tip, const struct gitrefs *known,
			  struct ancestry *ret)
{
	auto_free struct git_id *ids = NULL;
	size_t n = 0;
	int r;

	*ret = (struct ancestry){ 0 };
	/* The usual case needs no walk. */
	for (size_t i = 0; i < known->n; i++)
		if (git_id_is_same(&known->refs[i].id, tip))
			return 0;
	r = ids_of(known, &ids, &n);
	return r < 0 ? r : ancestry_find(repo->objects, tip, 1, ids, n, ret);
}

int repository_all_new_commits(const struct repository *repo,
			       struct ancestry *ret)
{
	auto_free struct git_id *old = NULL;
	auto_free struct git_id *new = NULL;
	size_t n_old = 0, n = 0;
	int r = ids_of(&repo->old, &old, &n_old);

	*ret = (struct ancestry){ 0 };
	for (size_t i = 0; r >= 0 && i < repo->new.n; i++) {
		const struct gitref *is = &repo->new.refs[i];
		const struct gitref *was = gitrefs_find(&repo->old, is->name);

		if (was && git_id_is_same(&was->id, &is->id))
			continue;
		if (n == OLD_MAX)
			return -EFBIG;
		if (grow(new, n) < 0)
			return -ENOMEM;
		new[n++] = is->id;
	}
	if (r < 0)
		return r;
	return n > 0 ? ancestry_find(repo->objects, new, n, old, n_old, ret)
		     : 0;
}

int repository_new_commits(const struct repository *repo,
			   const struct git_id *tip, struct ancestry *ret)
{
	return commits_beside(repo, tip, &repo->old, ret);
}

int repository_lost_commits(const struct repository *repo,
			    const struct git_id *tip, struct ancestry *ret)
{
	return commits_beside(repo, tip, &repo->new, ret);
}
