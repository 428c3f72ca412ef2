/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_OWN_BRANCH_H
#define HB_SESSION_GIT_OWN_BRANCH_H

#include "changes/begun/begun.h"
#include "git/gitobject.h"

#include <stddef.h>

struct hb_error;
struct hb_session;

/*
 * A session that is on a branch of its own, by STRATEGIES_OVER.  It begins at
 * the commit of the user's HEAD: changes of the user that are in no commit are
 * not in its view.  The real repository knows nothing of the branch.  git makes
 * the beginning in a box, and what it wrote is no change
 * (changes/begun/begun.h).
 *
 * (a) Before git writes, `beginning` is in the store, and it goes after
 *     `begun-N` is there (own_record.h).  In between the layers are taken for
 *     nothing: commit, undo, rollback, fork and mark are refused, and the next
 *     command repeats the beginning.
 * (b) git writes over nothing that is pending.  Only ignored files may be,
 *     where the commit has no file.
 * (c) N is the last transaction before the beginning, so undo returns to the
 *     record of before.
 *
 * tests/txn/git-worktree-kept.sh holds these, git-worktree-killed.py (a).
 */

/* What the box that begins is told. */
struct own_start {
	size_t number; /* of the work tree's resource */
	char *branch;  /* "holdback/SESSION" */
	struct git_id commit;
	struct begun before; /* what is pending already, and no part of it */
};

/*
 * Whether a session could begin in the directory, of which `base` is open.
 * -HB_E_STATE with the reason.
 */
int own_branch_check(int base, const char *source, struct hb_error *err);

/*
 * The next work tree from `number` on that has to begin: 1, and it is marked as
 * beginning; or 0.  Needs the lock.  own_start_done() after 1.
 */
int own_branch_next(struct hb_session *s, size_t number, struct own_start *ret,
		    struct hb_error *err);
void own_start_done(struct own_start *start);

/*
 * Right after the box: keeps what it wrote, durably.  Until this has succeeded
 * the session has not begun.
 */
int own_branch_note(struct hb_session *s, const struct own_start *start,
		    struct hb_error *err);

/* 1: the work tree is on its branch, or has been; 0: it has not begun. */
int own_branch_has_begun(struct hb_session *s, size_t number,
			 struct hb_error *err);

/* For a fork: if the first session has begun, the fork has so as well. */
int own_branch_share(struct hb_session *from, size_t number, int dir,
		     struct hb_error *err);

/*
 * Before layers are read as work of the session, moved or shared.  -HB_E_STATE:
 * a beginning was cut short, and the next command has to repeat it.
 */
int own_branch_need_whole(struct hb_session *s, struct hb_error *err);

/*
 * Before a commit.  -HB_E_STATE: own_branch_need_whole(), or work is pending
 * that is on no branch; -HB_E_CONFLICT: a merge or the like of the user is
 * under way.
 */
int own_branch_need_quiet(struct hb_session *s, struct hb_error *err);

#endif
