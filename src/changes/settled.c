/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/settled.h"

#include "changes/walk.h"
#include "git/kept/kept_index.h"

#include <string.h>

/* The list of references for servers without git, which `git gc` writes. */
static bool is_listing(const struct resource *resource, const char *path)
{
	static const char name[] = ".git/info/refs";
	size_t n = strlen(path), k = strlen(name);

	if (resource->is_git && strcmp(path, "info/refs") == 0)
		return true;
	return n >= k && strcmp(path + n - k, name) == 0 &&
	       (n == k || path[n - k - 1] == '/');
}

enum conflict settled_by_git(const struct resource *resource,
			     const struct sighting *s, struct change *change,
			     enum conflict conflict)
{
	const struct side base = { .dir = s->base_dir,
				   .name = s->name,
				   .entry = &s->old };

	if (git_is_note(s->git, s->name) || is_listing(resource, s->path)) {
		change->ignored_top = strlen(s->path);
		change->flags |= CHANGE_IGNORED | CHANGE_LOCK;
		return CONFLICT_NONE;
	}
	if (git_is_index(s->git, s->name) && s->old.type == ENTRY_FILE &&
	    kept_index_is_same(resource->dir, s->path, &base))
		return CONFLICT_NONE;
	/* git outside has packed it: no work is lost by that. */
	if (conflict == CONFLICT_MISSING &&
	    git_is_object_path(git_root(resource->is_git), s->path))
		return CONFLICT_NONE;
	return conflict;
}

bool settled_new_object(const struct resource *resource,
			const struct sighting *s, enum conflict conflict)
{
	return conflict == CONFLICT_MOVED && s->old.type == ENTRY_NONE &&
	       git_is_object_path(git_root(resource->is_git), s->path);
}

bool settled_object(const struct resource *resource, const struct sighting *s,
		    const struct change *change)
{
	return s->old.type == ENTRY_FILE && s->new.type != ENTRY_NONE &&
	       (change->kind == CHANGE_TYPE ||
		(change->what & CHANGED_CONTENT)) &&
	       git_is_object_path(git_root(resource->is_git), s->path);
}
