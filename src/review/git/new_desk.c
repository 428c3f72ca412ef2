/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/new_desk.h"

#include "base/auto.h"
#include "base/error.h"
#include "changes/changes.h"
#include "changes/git/delivered.h"
#include "git/kept/kept_refs.h"
#include "review/git/base_files.h"
#include "review/git/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKTREES "worktrees/"
#define WORD	  "cannot deliver a worktree"

/* How many bytes of the path are "worktrees/NAME"; 0: it is not below. */
static size_t desk_of(const char *path)
{
	size_t n = strlen(WORKTREES);

	if (strncmp(path, WORKTREES, n) != 0)
		return 0;
	return n + strcspn(path + n, "/");
}

static char *head_of(const struct unit *unit, const char *path, size_t n)
{
	char *head;

	return asprintf(&head, "%s%s%.*s/HEAD", unit->prefix,
			*unit->prefix ? "/" : "", (int)n, path) < 0
		       ? NULL
		       : head;
}

bool new_desk_has(const struct base_files *files, const struct unit *unit,
		  const char *path)
{
	size_t n = desk_of(path);
	auto_free char *head = n > 0 ? head_of(unit, path, n) : NULL;
	struct entry old;

	if (!head)
		return false;
	base_files_get(files, head, &old);
	return old.type == ENTRY_NONE;
}

/* Whether the user had the worktree of that path, as heads.h tells it. */
static bool is_removed(const struct unit *unit, const struct kept_refs *kept,
		       const char *path)
{
	size_t n = desk_of(path);
	auto_free char *head = NULL;
	const struct unit_file *file;

	if (n == 0 || asprintf(&head, "%.*s/HEAD", (int)n, path) < 0) {
		head = NULL;
		return false;
	}
	file = unit_find(unit, head);
	return kept_refs_value(kept, head) || !file || file->is_gone;
}

/* Whether all worktrees of the session that the base lacks were removed. */
static bool has_only_removed(const struct base_files *files,
			     const struct unit *unit,
			     const struct kept_refs *kept)
{
	bool has = false;

	for (size_t i = 0; i < unit->n; i++) {
		const char *path = unit->files[i].path;

		if (!new_desk_has(files, unit, path))
			continue;
		if (!is_removed(unit, kept, path))
			return false;
		has = true;
	}
	return has;
}

/*
 * Whether the item of its HEAD holds the change back.  Or the user has removed
 * the worktree: then the rest in the session does not come back.
 */
static int is_held(const struct base_files *files, const struct unit *unit,
		   const struct kept_refs *kept, const struct change *c,
		   const struct delivered *list)
{
	size_t skip = strlen(unit->prefix) + (*unit->prefix ? 1 : 0);
	const struct delivered_item *item;
	auto_free char *head = NULL;
	const char *path;

	if ((c->flags & CHANGE_GIT) ||
	    strncmp(c->path, unit->prefix, strlen(unit->prefix)) != 0 ||
	    strlen(c->path) <= skip)
		return 0;
	path = c->path + skip;
	if (strncmp(path, WORKTREES, strlen(WORKTREES) - 1) == 0 &&
	    strlen(path) == strlen(WORKTREES) - 1)
		return c->old.type == ENTRY_NONE &&
		       has_only_removed(files, unit, kept);
	if (!new_desk_has(files, unit, path))
		return 0;
	if (is_removed(unit, kept, path))
		return 1;
	head = head_of(unit, path, desk_of(path));
	if (!head)
		return -ENOMEM;
	item = delivered_find(list, head);
	return item && item->how == DELIVERED_HELD;
}

int new_desk_hold(const struct base_files *files, const struct unit *unit,
		  const struct kept_refs *kept, struct changes *changes,
		  struct delivered *list, struct hb_error *err)
{
	struct delivered held = { 0 };
	struct change c;
	int r = changes_rewind(changes, err);

	delivered_sort(list);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1) {
		r = is_held(files, unit, kept, &c, list);
		if (r > 0 && !delivered_find(list, c.path) &&
		    !delivered_add(&held, c.path, DELIVERED_HELD))
			r = -ENOMEM;
		if (r < 0)
			r = hb_fail(err, r, WORD);
	}
	for (size_t i = 0; r >= 0 && i < held.n; i++)
		if (!delivered_add(list, held.items[i].path, DELIVERED_HELD))
			r = hb_fail(err, -ENOMEM, WORD);
	delivered_done(&held);
	return r < 0 ? r : changes_rewind(changes, err);
}
