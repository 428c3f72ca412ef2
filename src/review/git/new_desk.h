/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_NEW_DESK_H
#define HB_REVIEW_GIT_NEW_DESK_H

#include <stdbool.h>

struct base_files;
struct changes;
struct delivered;
struct hb_error;
struct kept_refs;
struct unit;

/*
 * A linked worktree that the session made, worktrees/NAME of a git directory.
 * Some of its files belong to the repository's unit, and gitdir and commondir
 * do not: these say which files git takes for its own.
 */

/*
 * Whether the path, from the git directory on, lies in the directory of a
 * worktree that the base does not have.  Such a directory comes in one piece,
 * and after the objects: their path is before it.
 */
bool new_desk_has(const struct base_files *files, const struct unit *unit,
		  const char *path);

/*
 * Where the HEAD of a new worktree stays pending, so does all of its directory.
 * Without a HEAD it would be damage to git.  So does what the session has of a
 * worktree of T0, by `kept`, that the user has removed.  `changes` are those of
 * the unit's resource, and `list` gets the items.
 */
int new_desk_hold(const struct base_files *files, const struct unit *unit,
		  const struct kept_refs *kept, struct changes *changes,
		  struct delivered *list, struct hb_error *err);

#endif
