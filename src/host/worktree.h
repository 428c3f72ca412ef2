/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_WORKTREE_H
#define HB_HOST_WORKTREE_H

/*
 * The repository of a git worktree, or of a submodule.
 *
 * If `.git` in the directory `workspace` is a file that names a repository's
 * directory elsewhere, that directory names this file back, or the workspace as
 * its `core.worktree`, the common directory looks like one, and all belongs to
 * whoever may say so, writes the common directory, without links, into `ret`
 * (PATH_MAX) and returns 1.
 *
 * Returns 0 if there is nothing to add.  Then *ret_why is NULL, or says what is
 * wrong with what was found: a file that anybody can put into a tree must not
 * make a view wider.  Opens nothing that is not a file or a directory.
 */
int worktree_find(const char *workspace, char *ret, const char **ret_why);

/*
 * The same for whoever reads there: 1, and O_PATH descriptors of the worktree's
 * own git directory and of the common one, which are the caller's; or 0.
 */
int worktree_open(const char *workspace, int *ret_git, int *ret_common);

#endif
