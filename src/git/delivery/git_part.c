/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/git_part.h"

#include <limits.h>
#include <string.h>

#define WORKTREES "worktrees/"

const struct git_operation git_operations[] = {
	{ "MERGE_HEAD", "a merge is under way" },
	{ "CHERRY_PICK_HEAD", "a cherry-pick is under way" },
	{ "REVERT_HEAD", "a revert is under way" },
	{ "BISECT_LOG", "a bisection is under way" },
	{ "sequencer", "a cherry-pick or revert is under way" },
	{ "rebase-merge", "a rebase is under way" },
	{ "rebase-apply", "a rebase or am is under way" },
};
const size_t git_operations_n =
	sizeof(git_operations) / sizeof(git_operations[0]);

/* A name with a slash or an underscore at its end is the start of others. */
struct row {
	const char *name;
	enum git_part part;
};

static const struct row at_desk[] = {
	{ "HEAD", GIT_PART_HEAD },
	{ "index", GIT_PART_INDEX },
	{ "logs/", GIT_PART_LOG },
	{ "COMMIT_EDITMSG", GIT_PART_NOTE },
	{ "FETCH_HEAD", GIT_PART_NOTE },
	{ "ORIG_HEAD", GIT_PART_NOTE },
	{ "MERGE_", GIT_PART_OPERATION },
	{ "AUTO_MERGE", GIT_PART_OPERATION },
	{ "SQUASH_MSG", GIT_PART_OPERATION },
	{ "CHERRY_PICK_HEAD", GIT_PART_OPERATION },
	{ "REVERT_HEAD", GIT_PART_OPERATION },
	{ "REBASE_HEAD", GIT_PART_OPERATION },
	{ "BISECT_", GIT_PART_OPERATION },
	{ "sequencer/", GIT_PART_OPERATION },
	{ "rebase-merge/", GIT_PART_OPERATION },
	{ "rebase-apply/", GIT_PART_OPERATION },
	{ "refs/bisect/", GIT_PART_OPERATION },
	{ "refs/rewritten/", GIT_PART_OPERATION },
};

static const struct row at_top[] = {
	{ "refs/", GIT_PART_REF },
	{ "packed-refs", GIT_PART_PACKED },
	{ "shallow", GIT_PART_SHALLOW },
	{ "info/refs", GIT_PART_CACHE },
	{ "objects/info/packs", GIT_PART_CACHE },
	{ "objects/info/commit-graph", GIT_PART_CACHE },
	{ "objects/info/commit-graphs/", GIT_PART_CACHE },
	{ "objects/pack/multi-pack-index", GIT_PART_CACHE },
	{ "objects/pack/multi-pack-index.d/", GIT_PART_CACHE },
	{ "objects/pack/multi-pack-index-", GIT_PART_CACHE },
};

static enum git_part find(const struct row *rows, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = strlen(rows[i].name);

		if (strncmp(path, rows[i].name, k) == 0 &&
		    (path[k] == '\0' || strchr("/_-", rows[i].name[k - 1])))
			return rows[i].part;
	}
	return GIT_PART_OTHER;
}

static size_t desk_of(const char *path)
{
	size_t n = strlen(WORKTREES);

	if (strncmp(path, WORKTREES, n) != 0)
		return 0;
	n += strcspn(path + n, "/");
	return path[n] == '/' ? n : 0;
}

/* The last name of a path from there on, and the place that it is at. */
static const char *last_name(enum git_place *place, const char *path)
{
	char name[NAME_MAX + 1];

	for (;;) {
		size_t n = strcspn(path, "/");

		if (path[n] == '\0' || n >= sizeof(name))
			return path;
		memcpy(name, path, n);
		name[n] = '\0';
		*place = git_place_below(*place, name);
		path += n + 1;
	}
}

static bool is_lock(const char *path)
{
	enum git_place place = GIT_TOP;
	const char *name = last_name(&place, path);

	return git_is_lock(place, name);
}

static bool has_ending(const char *path, const char *ending)
{
	size_t n = strlen(path), k = strlen(ending);

	return n > k && strcmp(path + n - k, ending) == 0;
}

static bool is_bitmap(const char *path)
{
	return has_ending(path, ".bitmap");
}

enum git_part git_part_of(const char *path, size_t *ret_desk,
			  const char **ret_rest)
{
	size_t desk = desk_of(path);
	const char *rest = path + desk + (desk > 0);
	enum git_part part;

	*ret_desk = desk;
	*ret_rest = rest;
	if (is_lock(path))
		return GIT_PART_LOCK;
	part = find(at_desk, sizeof(at_desk) / sizeof(at_desk[0]), rest);
	if (part == GIT_PART_OTHER && desk == 0)
		part = find(at_top, sizeof(at_top) / sizeof(at_top[0]), rest);
	if (part == GIT_PART_OTHER && desk == 0 &&
	    git_is_object_path(GIT_TOP, path))
		part = is_bitmap(path) ? GIT_PART_CACHE : GIT_PART_OBJECT;
	return part;
}

const char *git_under_way(enum git_place root, const char *path)
{
	enum git_place place = root;
	const char *name = last_name(&place, path);

	/* A process that has ended may have left files of another name. */
	if (git_is_lock(place, name) && has_ending(name, ".lock"))
		return "a git command is under way";
	if (place != GIT_TOP && place != GIT_MODULE)
		return NULL;
	for (size_t i = 0; i < git_operations_n; i++)
		if (strcmp(name, git_operations[i].name) == 0)
			return git_operations[i].words;
	return NULL;
}
