/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/filter.h"

#include "base/glob.h"
#include "base/path.h"
#include "changes/changes.h"

#include "base/auto.h"
#include "changes/database.h"
#include "changes/git/delivered.h"
#include "git/gitunit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A pattern takes a path, or a directory with everything in it.  So every
 * directory above the path is asked as well, all in one go.  The cost for a
 * deep path stays in proportion to its length.
 *
 * A repository's unit goes whole or not at all: for its parts the directory
 * ".git" is asked instead.  The path of any part, as a list shows it, stands
 * for all of them; so does the name of any file of a database.
 */

static size_t count_slashes(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '/';
	return n;
}

static unsigned flags_at(const char *path, const char *end, bool is_dir)
{
	return path[end - path] != '\0' || is_dir ? GLOB_DIR : 0;
}

/* A pattern of one component: each component by itself. */
static bool matches_a_name(const char *pattern, char *path, bool is_dir)
{
	char *start = path;

	for (;;) {
		char *end = strchrnul(start, '/');
		unsigned flags = flags_at(path, end, is_dir);
		char saved = *end;
		bool is_match;

		*end = '\0';
		is_match = glob_match(pattern, start, flags);
		*end = saved;
		if (is_match || saved == '\0')
			return is_match;
		start = end + 1;
	}
}

static bool matches(const char *pattern, char *path, bool is_dir)
{
	size_t len = strlen(pattern);

	if (len == 0)
		return false;
	if (count_slashes(pattern) == (pattern[len - 1] == '/'))
		return matches_a_name(pattern, path, is_dir);
	return glob_match(pattern, path, GLOB_ABOVE | (is_dir ? GLOB_DIR : 0));
}

static bool matches_any(const char *const *patterns, size_t n, char *path,
			bool is_dir)
{
	for (size_t i = 0; i < n; i++)
		if (matches(patterns[i], path, is_dir))
			return true;
	return false;
}

/* Ends the path of a part of a unit behind its topmost ".git". */
static bool cut_to_unit(char *path)
{
	char *at = path;

	while ((at = strstr(at, ".git"))) {
		if ((at == path || at[-1] == '/') && at[4] == '/') {
			at[4] = '\0';
			return true;
		}
		at++;
	}
	return false;
}

/* Whether the path lies in the repository that the change is part of. */
static bool is_in_unit_of(const char *path, const struct change *change)
{
	const char *at = change->path;

	if (!(change->flags & CHANGE_GIT))
		return false;
	for (; (at = strstr(at, ".git")); at++) {
		size_t n = (size_t)(at + 4 - change->path);

		if ((at == change->path || at[-1] == '/') &&
		    (at[4] == '/' || at[4] == '\0'))
			return strncmp(path, change->path, n) == 0 &&
			       (path[n] == '/' || path[n] == '\0');
	}
	return false;
}

/* Of patterns that are such a path, as a list of changes shows it. */
static bool name_unit_of(const struct change *change,
			 const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *path = patterns[i] + (patterns[i][0] == '/');

		if (git_path_in_unit(GIT_OUTSIDE, path) &&
		    is_in_unit_of(path, change))
			return true;
	}
	return false;
}

static bool passes(const struct changes_filter *filter,
		   const struct change *change, char *path, bool is_dir)
{
	if (filter->n_only > 0 &&
	    !matches_any(filter->only, filter->n_only, path, is_dir) &&
	    !name_unit_of(change, filter->only, filter->n_only))
		return false;
	return !matches_any(filter->except, filter->n_except, path, is_dir) &&
	       !name_unit_of(change, filter->except, filter->n_except);
}

/* A repository's unit is one whole: a path inside of it stands for all. */
static bool covers(const struct changes_within *w, const struct change *change,
		   const char *path)
{
	return w->resource == change->resource &&
	       (w->path[0] == '\0' || path_is_beneath(path, w->path) ||
		is_in_unit_of(w->path, change));
}

static bool is_covered(const struct changes_filter *filter,
		       const struct change *change, const char *path,
		       bool is_out)
{
	size_t n = 0;

	for (size_t i = 0; i < filter->n_within; i++) {
		const struct changes_within *w = &filter->within[i];

		if (w->is_out != is_out)
			continue;
		if (covers(w, change, path))
			return true;
		n++;
	}
	/* Without any, everything is in, and nothing is out. */
	return !is_out && n == 0;
}

/* In if one of its files is wanted, out if one of them is to stay out. */
static bool passes_database(const struct changes_filter *filter,
			    const struct change *change, const char *path)
{
	bool is_wanted = filter->n_only == 0, is_in = false;
	size_t n;

	(void)database_part_of_name(path, &n);
	for (int i = DATABASE_MAIN; i <= DATABASE_INDEX; i++) {
		auto_free char *name = NULL;

		if (asprintf(&name, "%.*s%s", (int)n, path,
			     database_endings[i]) < 0) {
			name = NULL;
			return false;
		}
		if (matches_any(filter->except, filter->n_except, name,
				false) ||
		    is_covered(filter, change, name, true))
			return false;
		is_wanted |=
			matches_any(filter->only, filter->n_only, name, false);
		is_in |= is_covered(filter, change, name, false);
	}
	return is_wanted && is_in;
}

bool changes_filter_is_partial(const struct changes_filter *filter)
{
	return filter->n_only > 0 || filter->n_except > 0 ||
	       filter->n_within > 0;
}

static bool are_same(const char *const *a, size_t n_a, const char *const *b,
		     size_t n_b)
{
	for (size_t i = 0; n_a == n_b && i < n_a; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return n_a == n_b;
}

bool changes_filter_is_same(const struct changes_filter *a,
			    const struct changes_filter *b, size_t n)
{
	if (!a->resources != !b->resources || a->n_within != b->n_within)
		return false;
	for (size_t i = 0; a->resources && i < n; i++)
		if (a->resources[i] != b->resources[i])
			return false;
	for (size_t i = 0; i < a->n_within; i++)
		if (a->within[i].resource != b->within[i].resource ||
		    a->within[i].is_out != b->within[i].is_out ||
		    strcmp(a->within[i].path, b->within[i].path) != 0)
			return false;
	return are_same(a->only, a->n_only, b->only, b->n_only) &&
	       are_same(a->except, a->n_except, b->except, b->n_except);
}

bool changes_filter_passes(const struct changes_filter *filter,
			   const struct change *change)
{
	return !(change->flags & (CHANGE_IGNORED | CHANGE_BEGUN)) &&
	       changes_filter_matches(filter, change);
}

bool changes_filter_matches(const struct changes_filter *filter,
			    const struct change *change)
{
	auto_free char *path = NULL;
	bool is_dir = change->new.type == ENTRY_DIR ||
		      (change->new.type == ENTRY_NONE &&
		       change->old.type == ENTRY_DIR);

	if (filter->resources && !filter->resources[change->resource])
		return false;
	if (!changes_filter_is_partial(filter))
		return true;
	path = strdup(change->path);
	/* Without memory nothing is taken that was not asked for. */
	if (!path)
		return false;
	if (change->flags & CHANGE_GIT) {
		/* The root is the repository's own directory. */
		if (!cut_to_unit(path)) {
			free(path);
			path = strdup(".git");
			if (!path)
				return false;
		}
		is_dir = true;
	}
	if (change->flags & CHANGE_DATABASE)
		return passes_database(filter, change, path);
	return is_covered(filter, change, change->path, false) &&
	       !is_covered(filter, change, change->path, true) &&
	       passes(filter, change, path, is_dir);
}

static bool is_named(const char *const *globs, size_t n, const struct change *c)
{
	const struct changes_filter f = { .only = globs, .n_only = n };

	return name_unit_of(c, globs, n) ||
	       (n > 0 && changes_filter_passes(&f, c));
}

bool changes_choice_keeps_real(const struct changes_choice *choice,
			       const struct change *change)
{
	return (change->flags & CHANGE_CONFLICT) &&
	       is_named(choice->ours, choice->n_ours, change);
}

bool changes_choice_takes(const struct changes_choice *choice,
			  const struct change *change)
{
	if (!changes_filter_passes(&choice->filter, change) ||
	    (change->item && change->item->how == DELIVERED_HELD))
		return false;
	/* It comes back for the sake of what is in it, or not at all. */
	if ((change->flags & CHANGE_CARRIED) && change->kind == CHANGE_ADDED)
		return false;
	return !changes_choice_keeps_real(choice, change);
}

bool changes_choice_is_open(const struct changes_choice *choice,
			    const struct change *change)
{
	return (change->flags & CHANGE_FIRM) ||
	       ((change->flags & CHANGE_CONFLICT) &&
		!is_named(choice->theirs, choice->n_theirs, change));
}
