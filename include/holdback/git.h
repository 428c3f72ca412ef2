/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_GIT_H
#define HOLDBACK_GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_changes;
struct hb_error;
struct hb_filter;
struct hb_session;

/* The repositories of a session: what it did in them, and signatures. */

#define HB_GIT_COMMITS 20 /* are told with their subject */

struct hb_git_commit {
	const char *id;
	const char *subject; /* any bytes but a newline; may be cut */
};

/* A reference that the session made, moved or deleted. */
struct hb_git_ref {
	size_t resource;
	const char *repository; /* its git directory, from the resource on */
	const char *name; /* "refs/heads/main"; NULL: they cannot be read */
	const char *old, *new; /* the values outside and inside; or NULL */
	/* What it reaches inside, and no reference does outside. */
	uint64_t n_commits;
	const struct hb_git_commit *commits; /* `n_told`, the oldest first */
	size_t n_told;
	/* What it reaches outside, and no reference does inside. */
	uint64_t n_lost;
	bool is_unknown; /* a number is too large to be counted */
};

typedef int (*hb_git_fn)(void *ctx, const struct hb_git_ref *ref,
			 struct hb_error *err);

/*
 * Tells these references, one repository after the other and by name.  No git
 * runs, and nothing of the repository's configuration counts.  Rewinds the
 * changes, which were not made with `since`.
 */
int hb_changes_git(struct hb_session *session, struct hb_changes *changes,
		   hb_git_fn fn, void *ctx, struct hb_error *err);

/*
 * Signs the commits that the session made on the branch of its HEAD, as git on
 * the host would.  Key, format and program come from git's configuration of the
 * user and the system, and never from the repository's.  It is for a commit
 * that follows, which delivers the signed ones.  `*ret_n` is how
 * many were signed; those that are signed already stay.
 *
 * -HB_E_CONFIG: there is no key or no program; -HB_E_STATE: the program did not
 * sign, another branch or a tag of the session has one of the commits, or they
 * cannot be read.  Then the session's branch is as it was.
 */
int hb_session_sign(struct hb_session *session, const struct hb_filter *filter,
		    char *const *envp, uint64_t *ret_n, struct hb_error *err);

#endif
