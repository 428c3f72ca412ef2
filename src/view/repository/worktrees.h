/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_WORKTREES_H
#define HB_VIEW_WORKTREES_H

struct hb_error;
struct run;

/* Beyond so many they are not looked at. */
#define WORKTREES_MAX 64

/*
 * The other worktrees of the workspace's repository lie where a view shows
 * nothing.  git takes a worktree without its `.git` for a leftover, to be
 * pruned.  Adds an entry for each of those files, which is empty inside.
 */
int worktrees_keep(struct run *run, struct hb_error *err);

#endif
