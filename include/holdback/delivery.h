/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_DELIVERY_H
#define HB_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct hb_gate_check;
struct hb_session;

/* What a commit does with a repository. */
enum hb_git_mode {
	/* As hb_session_git_mode() tells. */
	HB_GIT_USUAL,
	/* Moves branches forward; where the user moved one: as the next. */
	HB_GIT_FF,
	/* The session's commits go to a branch of their own. */
	HB_GIT_BRANCH,
	/* Merged by git in a box, where the user moved the branch. */
	HB_GIT_MERGE,
	HB_GIT_FILES, /* its files are files like all others */
};

/*
 * The mode of that word; NULL: of the key `git`, as the run that made the
 * session had it, or else the configuration; HB_GIT_FF if neither says it.
 */
int hb_session_git_mode(struct hb_session *session, const char *word,
			enum hb_git_mode *ret_mode, struct hb_error *err);

/*
 * Instead of a mode, a commit may have the name of a new branch.  The session's
 * commits go there, and nothing else is committed.  If it is on a branch of its
 * own, all changes are in them.  -HB_E_STATE: there is such a branch, or the
 * session has no commit for it.
 */

/* What happens to one repository, or happened to it. */
struct hb_delivery {
	size_t resource;
	const char *path;    /* of the git directory, from the resource on */
	const char *verdict; /* "forward", "branch", "waits", ... */
	const char *branch;  /* "branch": where the commits are; else NULL */
	uint64_t n_commits;  /* on it */
	/* The session's HEAD beside the user's; NULL: it is not known. */
	const char *head;
	const char *head_branch; /* NULL: it is on none */
	const char *base;	 /* where the session began, or NULL */
	/* Commits that one of them has, and the other has not. */
	uint64_t n_ahead, n_behind;
	bool is_merged;	  /* the user's has the session's commit */
	const char *text; /* for people; NULL: nothing to say */
	const char *fix;  /* what to type then, or NULL */
};

/*
 * What a commit would do with each repository, by the last change set without
 * `since`, or did with it.  Valid until the session is looked at or freed.
 */
const struct hb_delivery *hb_session_deliveries(struct hb_session *session,
						size_t *ret_n);

/*
 * Runs `argv` in a box of the session `aside`, without a network.  That session
 * was made for it, and keeps what the command did.  Else as
 * hb_session_gate_check().
 */
int hb_session_run_aside(struct hb_session *session, const char *aside,
			 char *const *argv, struct hb_gate_check *ret_check,
			 struct hb_error *err);

#endif
