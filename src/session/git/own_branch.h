/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_OWN_BRANCH_H
#define HB_SESSION_GIT_OWN_BRANCH_H

#include "git/gitobject.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct begun;
struct hb_error;
struct hb_session;
struct record_resource;
struct session_record;

/*
 * A session that is on a branch of its own, by STRATEGIES_OVER.  It begins at
 * the commit of the user's HEAD: changes of the user that are in no commit are
 * not in its view.  The real repository knows nothing of the branch.  git makes
 * the beginning in a box, and what it wrote is no change
 * (changes/begun/begun.h).
 *
 * The record of a beginning is `begun-N` in the resource's store.  N is the
 * last transaction before it, so undo returns to the record of before.  Without
 * a record, or without a HEAD in the layers, the session has not begun: nothing
 * in it is of a command.
 */

/* What the box that begins is told. */
struct own_start {
	size_t number; /* of the work tree's resource */
	char *branch;  /* "holdback/SESSION" */
	struct git_id commit;
	/* By resource: what is pending already, and is no part of it; owned. */
	struct begun *before;
	size_t n_before;
};

/* Where HEAD and references of a work tree lie. */
struct own_place {
	size_t resource;
	const char *prefix;	  /* the git directory in that: ".git" or "" */
	char desk[NAME_MAX + 16]; /* "" or "worktrees/NAME" */
};

/*
 * Whether a session could begin in the directory, of which `base` is open.
 * -HB_E_STATE with the reason.
 */
int own_branch_check(int base, const char *source, struct hb_error *err);

/* -HB_E_STATE: its repository is not held back. */
int own_branch_place(const struct session_record *record, size_t number,
		     struct own_place *ret, struct hb_error *err);

/*
 * The next work tree from `number` on that has to begin: 1; or 0.  Needs the
 * lock.  own_start_done() after 1.
 */
int own_branch_next(struct hb_session *s, size_t number, struct own_start *ret,
		    struct hb_error *err);
void own_start_done(struct own_start *start);

/*
 * Right after the box: keeps what it wrote, in all resources, durably.  Until
 * this has succeeded the session has not begun.
 */
int own_branch_note(struct hb_session *s, const struct own_start *start,
		    struct hb_error *err);

/* 1: the work tree is on its branch, or has been; 0: it has not begun. */
int own_branch_has_begun(struct hb_session *s, size_t number,
			 struct hb_error *err);

/*
 * Before a commit.  -HB_E_STATE: the beginning of a work tree was interrupted;
 * -HB_E_CONFLICT: a merge or the like of the user is under way there.
 */
int own_branch_need_begun(struct hb_session *s, struct hb_error *err);

#endif
