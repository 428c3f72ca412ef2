/* SPDX-License-Identifier: Apache-2.0 */
#include "git/gitunit.h"

#include "base/auto.h"
#include "base/error.h"
#include "git/gitindex.h"
#include "sys/attr.h"
#include "tree/access.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const char *const unit[] = {
	"AUTO_MERGE",	  "BISECT_LOG",	 "CHERRY_PICK_HEAD",
	"COMMIT_EDITMSG", "FETCH_HEAD",	 "HEAD",
	"MERGE_HEAD",	  "MERGE_MODE",	 "MERGE_MSG",
	"MERGE_RR",	  "ORIG_HEAD",	 "REBASE_HEAD",
	"REVERT_HEAD",	  "index",	 "logs",
	"objects",	  "packed-refs", "rebase-apply",
	"rebase-merge",	  "refs",	 "rr-cache",
	"sequencer",	  "shallow",
};

static bool is_unit_name(const char *name)
{
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (strcmp(name, unit[i]) == 0)
			return true;
	return false;
}

static bool is_git_dir(enum git_place place)
{
	return place == GIT_TOP || place == GIT_MODULE;
}

/* Directories of git that are no unit; the name of a submodule goes on. */
static bool is_other_name(const char *name)
{
	static const char *const others[] = { "annex", "branches", "hooks",
					      "info",  "lfs",	   "svn" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(name, others[i]) == 0)
			return true;
	return false;
}

enum git_place git_place_below(enum git_place parent, const char *name)
{
	switch (parent) {
	case GIT_OUTSIDE:
		return strcmp(name, ".git") == 0 ? GIT_TOP : GIT_OUTSIDE;
	case GIT_TOP:
	case GIT_MODULE:
		if (strcmp(name, "modules") == 0)
			return GIT_MODULES;
		if (strcmp(name, "worktrees") == 0)
			return GIT_WORKTREES;
		if (is_unit_name(name))
			return GIT_UNIT;
		return parent == GIT_TOP || is_other_name(name) ? GIT_OTHER
								: GIT_MODULE;
	case GIT_MODULES:
		return GIT_MODULE;
	case GIT_WORKTREES:
		return GIT_TOP;
	case GIT_UNIT:
	case GIT_OTHER:
	default:
		return parent;
	}
}

bool git_is_unit(enum git_place place, const char *name)
{
	return place == GIT_UNIT || (is_git_dir(place) && is_unit_name(name));
}

bool git_is_note(enum git_place place, const char *name)
{
	static const char *const notes[] = { "COMMIT_EDITMSG", "FETCH_HEAD",
					     "ORIG_HEAD" };

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (is_git_dir(place) && strcmp(name, notes[i]) == 0)
			return true;
	return false;
}

bool git_is_index(enum git_place place, const char *name)
{
	return is_git_dir(place) && strcmp(name, "index") == 0;
}

static ssize_t read_fd(void *ctx, void *buf, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, buf, size, offset);
}

int git_same_index(const struct side *a, const struct side *b,
		   struct hb_error *err)
{
	auto_fd int first = -1;
	auto_fd int second = -1;
	struct hb_error why = { 0 };
	int r;

	first = access_open_file(a->dir, a->name, a->entry, a->in_layer, err);
	if (first < 0)
		return first;
	second = access_open_file(b->dir, b->name, b->entry, b->in_layer, &why);
	/* git writes it anew at this moment: then its entries do not count. */
	if (second == -EACCES || second == -HB_E_BUSY || second == -ENOENT)
		return 0;
	if (second < 0)
		return hb_pass(err, &why, second);
	r = gitindex_is_same(read_fd, &first, a->entry->size, &second,
			     b->entry->size);
	if (r < 0)
		return hb_fail(err, r, "cannot compare the git indexes");
	return r;
}

static bool begins_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

bool git_is_lock(enum git_place place, const char *name)
{
	size_t n = strlen(name);

	if (!is_git_dir(place) && place != GIT_UNIT)
		return false;
	if (n > 5 && strcmp(name + n - 5, ".lock") == 0)
		return true;
	if (is_git_dir(place))
		return (n > 4 && strcmp(name + n - 4, ".pid") == 0) ||
		       strcmp(name, "gc.log") == 0;
	return begins_with(name, "tmp_obj_") ||
	       begins_with(name, "tmp_pack_") || begins_with(name, "tmp_idx_");
}

/*
 * The last name of the path, or from a name in a git directory on that `is_end`
 * knows; with the place that this is at.
 */
static const char *descend(enum git_place *place, const char *path,
			   bool (*is_end)(const char *name))
{
	char name[NAME_MAX + 1];
	size_t n;

	for (;; path += n + 1) {
		n = strcspn(path, "/");
		if (n >= sizeof(name))
			return NULL;
		memcpy(name, path, n);
		name[n] = '\0';
		if (is_end && is_git_dir(*place) && is_end(name))
			return path;
		if (path[n] == '\0')
			return is_end ? NULL : path;
		*place = git_place_below(*place, name);
	}
}

bool git_is_index_path(enum git_place root, const char *path)
{
	const char *name = descend(&root, path, NULL);

	return name && git_is_index(root, name);
}

bool git_is_packed_path(enum git_place root, const char *path)
{
	const char *rest = git_path_in_unit(root, path);

	return rest && strcmp(rest, "packed-refs") == 0;
}

static bool is_objects(const char *name)
{
	return strcmp(name, "objects") == 0;
}

bool git_is_object_path(enum git_place root, const char *path)
{
	static const char hex[] = "0123456789abcdef";
	const char *at = descend(&root, path, is_objects);
	size_t n;

	if (!at || at[strlen("objects")] != '/')
		return false;
	at += strlen("objects/");
	if (strcmp(at, "pack") == 0)
		return true;
	if (begins_with(at, "pack/"))
		return begins_with(at + 5, "pack-") && !strchr(at + 5, '/');
	if (strspn(at, hex) != 2 || (at[2] != '\0' && at[2] != '/'))
		return false;
	n = at[2] ? strspn(at + 3, hex) : 0;
	return at[2] == '\0' || ((n == 38 || n == 62) && at[3 + n] == '\0');
}

const char *git_path_in_unit(enum git_place root, const char *path)
{
	return descend(&root, path, is_unit_name);
}

size_t git_repository_in(enum git_place root, const char *path)
{
	enum git_place place = root;
	char name[NAME_MAX + 1];
	const char *at = path;
	size_t of_worktrees = SIZE_MAX, n;

	for (;; at += n + 1) {
		size_t above = (size_t)(at - path) - (at != path);

		n = strcspn(at, "/");
		if (n >= sizeof(name))
			return SIZE_MAX;
		memcpy(name, at, n);
		name[n] = '\0';
		if (is_git_dir(place) && is_unit_name(name))
			return of_worktrees != SIZE_MAX ? of_worktrees : above;
		if (at[n] == '\0')
			return SIZE_MAX;
		place = git_place_below(place, name);
		if (place == GIT_WORKTREES)
			of_worktrees = above;
		/* A submodule of a worktree is a repository of its own. */
		if (place == GIT_MODULES || place == GIT_OUTSIDE)
			of_worktrees = SIZE_MAX;
	}
}

uint64_t git_index_name(int dir, const char *name)
{
	uint64_t size, entries;
	auto_fd int fd = access_open_regular(dir, name, &size);

	if (fd < 0 || gitindex_name(read_fd, &fd, size, &entries) < 0)
		return 0;
	return entries;
}
