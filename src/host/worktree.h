/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_WORKTREE_H
#define HB_HOST_WORKTREE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The repository of a git worktree, or of a submodule.
 *
 * Returns 1 and writes the common directory, without links, into `ret`
 * (PATH_MAX) if all of this holds.  `.git` in the directory `workspace` is a
 * file that names a repository's directory elsewhere.  That directory names
 * this file back, or the workspace as its `core.worktree`.  The common
 * directory looks like one, and all belongs to a user who may say so.
 *
 * Returns 0 if there is nothing to add.  Then *ret_why is NULL or the fault: a
 * file that any agent can put into a tree must not make a view wider.  Opens
 * nothing that is not a file or a directory.
 */
int worktree_find(const char *workspace, char *ret, const char **ret_why);

/*
 * The same for a caller that reads there.  1: O_PATH descriptors of the
 * worktree's own git directory and of the common directory, which the caller
 * closes; or 0.
 */
int worktree_open(const char *workspace, int *ret_git, int *ret_common);

/* Whether an open directory looks like a git directory, all of that owner's. */
bool worktree_is_repository(int dir, uid_t owner);

#endif
