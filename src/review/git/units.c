/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/units.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/filter.h"
#include "git/gitunit.h"
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MAX 256
#define FILES_MAX ((size_t)1 << 21)
#define WORKTREES "worktrees/"

static void free_files(struct unit_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(files[i].path);
		free(files[i].whole);
	}
	free(files);
}

void units_done(struct units *units)
{
	for (size_t i = 0; i < units->n; i++) {
		struct unit *u = &units->list[i];

		free(u->prefix);
		free_files(u->files, u->n);
		free_files(u->dirs, u->n_dirs);
	}
	for (size_t i = 0; i < units->n_left; i++)
		free(units->left[i].path);
	free(units->list);
	free(units->left);
	*units = (struct units){ 0 };
}

/*
 * Where the git directory of the path ends.  git_path_in_unit() ends in that of
 * a linked worktree, which is a part of the repository above it.
 */
static const char *rest_of(enum git_place root, const char *path)
{
	const char *rest = git_path_in_unit(root, path);
	const char *at = rest;

	if (!rest || rest == path)
		return rest;
	/* Back over "NAME/", and see whether that lies in "worktrees/". */
	for (at--; at > path && at[-1] != '/';)
		at--;
	if (at - path < (ptrdiff_t)strlen(WORKTREES))
		return rest;
	at -= strlen(WORKTREES);
	if (strncmp(at, WORKTREES, strlen(WORKTREES)) != 0)
		return rest;
	return at == path || at[-1] == '/' ? at : rest;
}

static struct unit *unit_of(struct units *all, size_t resource,
			    const char *path, const char *rest)
{
	size_t n = (size_t)(rest - path);
	struct unit *u;

	n -= n > 0;
	for (size_t i = 0; i < all->n; i++) {
		u = &all->list[i];
		if (u->resource == resource && strlen(u->prefix) == n &&
		    strncmp(u->prefix, path, n) == 0)
			return u;
	}
	if (all->n == UNITS_MAX || grow(all->list, all->n) < 0)
		return NULL;
	u = &all->list[all->n];
	*u = (struct unit){ .resource = resource, .prefix = strndup(path, n) };
	if (!u->prefix)
		return NULL;
	all->n++;
	return u;
}

static int add_file(struct unit_file **files, size_t *n, const struct change *c,
		    const char *rest)
{
	struct unit_file f = {
		.path = strdup(rest),
		.whole = strdup(c->path),
		.layer = c->layer,
		.new = c->new,
		.flags = c->flags,
		.is_gone = c->new.type != ENTRY_FILE,
		.is_newer =
			(c->flags & CHANGE_CONFLICT) ||
			((c->flags & CHANGE_LOCK) && c->old.type == ENTRY_FILE),
	};

	if (!f.path || !f.whole || *n >= FILES_MAX || grow(*files, *n) < 0) {
		free(f.path);
		free(f.whole);
		return -ENOMEM;
	}
	(*files)[(*n)++] = f;
	return 0;
}

static bool is_objects(const char *rest)
{
	return strncmp(rest, "objects", 7) == 0 &&
	       (rest[7] == '/' || rest[7] == '\0');
}

/* A directory of objects that the session packed, with new ones in it. */
static bool is_made_again(const char *rest, const struct change *c)
{
	return is_objects(rest) && (c->flags & CHANGE_OPAQUE);
}

/* git gives an object that it finds there the present time. */
static bool is_freshened(const char *rest, const struct change *c)
{
	return c->new.type == ENTRY_FILE && c->old.type == ENTRY_FILE &&
	       !(c->flags & CHANGE_CARRIED) &&
	       git_is_object_path(GIT_TOP, rest);
}

static int note_unit(struct units *all, enum git_place root,
		     const struct changes_choice *choice,
		     const struct change *c)
{
	const char *rest = rest_of(root, c->path);
	bool is_dir = c->new.type == ENTRY_DIR || c->old.type == ENTRY_DIR;
	bool is_file = c->new.type == ENTRY_FILE || c->old.type == ENTRY_FILE;
	struct unit *u;
	int r = 0;

	/*
	 * Times and modes say nothing about a repository.  But an object that
	 * the base has is never replaced.
	 */
	if (!rest || (!is_made_again(rest, c) && !is_freshened(rest, c) &&
		      ((c->flags & CHANGE_CARRIED) || c->kind == CHANGE_TIMES ||
		       c->kind == CHANGE_ATTRIBUTES)))
		return 0;
	u = unit_of(all, c->resource, c->path, rest);
	if (!u)
		return -ENOMEM;
	/* A filter takes all of a repository, or nothing. */
	u->is_left |= !changes_filter_matches(&choice->filter, c);
	/* A new directory of objects comes with them, as files do. */
	if (is_dir && (!is_objects(rest) || c->new.type == ENTRY_NONE ||
		       is_made_again(rest, c)))
		r = add_file(&u->dirs, &u->n_dirs, c, rest);
	if (r >= 0 && (is_file || !is_dir))
		r = add_file(&u->files, &u->n, c, rest);
	return r;
}

static int note_left(struct units *all, const struct change *c)
{
	struct unit_left left = { .resource = c->resource };

	if (grow(all->left, all->n_left) < 0)
		return -ENOMEM;
	left.path = strdup(c->path);
	if (!left.path)
		return -ENOMEM;
	all->left[all->n_left++] = left;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct unit_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int by_left(const void *a, const void *b)
{
	const struct unit_left *x = a, *y = b;

	if (x->resource != y->resource)
		return x->resource < y->resource ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int note(struct units *all, const struct resource *resource,
		const struct changes_choice *choice, const struct change *c)
{
	if (c->flags & CHANGE_GIT)
		return note_unit(all, resource->is_git ? GIT_TOP : GIT_OUTSIDE,
				 choice, c);
	if ((c->flags & (CHANGE_CARRIED | CHANGE_BEGUN)) || change_is_top(c) ||
	    changes_choice_takes(choice, c))
		return 0;
	return note_left(all, c);
}

int units_find(struct hb_session *s, struct changes *const *changes,
	       const struct changes_choice *choice, struct units *ret,
	       struct hb_error *err)
{
	struct change c;
	int r = 0;

	*ret = (struct units){ 0 };
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		if (!changes[i] || s->resources[i].is_gone)
			continue;
		r = changes_rewind(changes[i], err);
		while (r >= 0 && (r = changes_next(changes[i], &c, err)) == 1)
			if (note(ret, &s->resources[i], choice, &c) < 0)
				return hb_fail(err, -ENOMEM,
					       "cannot look at repositories");
		if (r >= 0)
			r = changes_rewind(changes[i], err);
	}
	if (ret->n_left > 0)
		qsort(ret->left, ret->n_left, sizeof(*ret->left), by_left);
	for (size_t i = 0; i < ret->n; i++)
		if (ret->list[i].n > 0)
			qsort(ret->list[i].files, ret->list[i].n,
			      sizeof(*ret->list[i].files), by_path);
	return r < 0 ? r : 0;
}

const struct unit_file *unit_find(const struct unit *unit, const char *path)
{
	/* Only compared. */
	const struct unit_file key = { .path = (char *)(uintptr_t)path };

	return unit->n == 0 ? NULL
			    : bsearch(&key, unit->files, unit->n, sizeof(key),
				      by_path);
}

bool units_leave(const struct units *units, size_t resource, const char *path)
{
	const struct unit_left key = { resource, (char *)(uintptr_t)path };

	return units->n_left > 0 && bsearch(&key, units->left, units->n_left,
					    sizeof(key), by_left) != NULL;
}
