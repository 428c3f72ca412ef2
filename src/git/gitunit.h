/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_GITUNIT_H
#define HB_GIT_GITUNIT_H

#include "tree/compare.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Where a walk is with regard to a repository.  objects, refs, logs, HEAD,
 * index and their like are one unit: they make sense together or not at all.
 * Hooks and configuration are what runs code, and stay entries of their own.
 */
enum git_place {
	GIT_OUTSIDE = 0,
	GIT_TOP,     /* in .git itself, or in that of a linked worktree */
	GIT_MODULES, /* in .git/modules */
	/*
	 * In the git directory of a submodule, or on the way to one: its name
	 * is a path.
	 */
	GIT_MODULE,
	GIT_WORKTREES, /* in .git/worktrees */
	GIT_UNIT,      /* below something of the unit */
	GIT_OTHER,     /* below anything else in .git */
};

/* Where the root of a resource is, which may be a git directory itself. */
static inline enum git_place git_root(bool is_git)
{
	return is_git ? GIT_TOP : GIT_OUTSIDE;
}

/* Where the directory `name` is, whose parent is at `parent`. */
enum git_place git_place_below(enum git_place parent, const char *name);

/* Whether what is called `name` at `place` belongs to the unit. */
bool git_is_unit(enum git_place place, const char *name);

/* Whether it is an index. */
bool git_is_index(enum git_place place, const char *name);

/*
 * 1: two indexes with the same entries; extensions do not count.  0: not the
 * same, or not both understood, or `b`, the base's, may not be read.
 */
int git_same_index(const struct side *a, const struct side *b,
		   struct hb_error *err);

/*
 * Whether it is what git writes for its next command or a person to read, and
 * nothing depends on: COMMIT_EDITMSG, FETCH_HEAD, ORIG_HEAD.
 */
bool git_is_note(enum git_place place, const char *name);

/*
 * Whether this file is a lock of git, the id or log of its process, or
 * a file that git has begun to write. Only the git process that made it can use
 * it.
 */
bool git_is_lock(enum git_place place, const char *name);

/*
 * Whether the path, from a resource's root on, is that of an index; `root` is
 * where that root is.
 */
bool git_is_index_path(enum git_place root, const char *path);

/* Likewise, whether it is packed-refs. */
bool git_is_packed_path(enum git_place root, const char *path);

/*
 * Likewise, whether it is an object, a pack, or a directory of them.
 * References may name it as soon as it exists; without a reference it changes
 * nothing.
 */
bool git_is_object_path(enum git_place root, const char *path);

/*
 * Likewise, from the git directory on, if it belongs to the unit of a
 * repository: "refs/heads/main" of "sub/.git/refs/heads/main".  Else NULL.
 */
const char *git_path_in_unit(enum git_place root, const char *path);

/*
 * How much of the path is the git directory of its repository.  Of a linked
 * worktree that is the one without "worktrees/NAME".  SIZE_MAX: it belongs to
 * no unit.
 */
size_t git_repository_in(enum git_place root, const char *path);

/*
 * Names the entries of the index `name` in a base or a layer, as
 * gitindex_name() has it.  0: there is none, or it cannot be read or
 * understood.
 */
uint64_t git_index_name(int dir, const char *name);

#endif
