/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_GIT_H
#define HOLDBACK_GIT_H

#include "holdback/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * A commit of the session: a reference of the session reaches it, and none of
 * the real repository does.  All is valid until the next one.
 */
struct hb_commit {
	size_t resource;
	const char *repository; /* its git directory, from the resource on */
	const char *id;
	bool is_missing; /* it cannot be read: there is nothing below */
	const char *const *parents;
	size_t n_parents;
	/* "Name <mail> 1234567890 +0100", any bytes but NUL and newline. */
	const char *author, *committer;
	const char *message; /* any bytes but NUL */
	/* The session's references at it, also by way of a tag. */
	const char *const *refs;
	size_t n_refs;
};

/* A file that differs from that of the first parent. */
struct hb_commit_file {
	const char *path;	     /* from the top of the work tree */
	unsigned old_mode, new_mode; /* as git has them; 0: there is none */
	const char *old, *new;	     /* names of the contents */
};

struct hb_log;

/*
 * The commits of all repositories, one repository after the other, a commit
 * before its parents and the latest first.  As hb_changes_git() it runs no git;
 * replace references, grafts and alternates of the session do not count.
 * `*ret_log` may not outlive the session.
 */
int hb_changes_log(struct hb_session *session, struct hb_changes *changes,
		   struct hb_log **ret_log, struct hb_error *err);
void hb_log_free(struct hb_log *log);

/*
 * 1: a commit; 0: the end.  2: no commit, but a repository whose commits are
 * too many or cannot be counted; only its name is told.
 */
int hb_log_next(struct hb_log *log, struct hb_commit *ret_commit,
		struct hb_error *err);

/*
 * The files of the commit that was given last, in git's order; a merge has
 * none, as for `git log`.  1: a file; 0: the end.  2: the end, and there is
 * more that cannot be read or is too much.
 */
int hb_log_file(struct hb_log *log, struct hb_commit_file *ret_file,
		struct hb_error *err);

/*
 * The content of one side of the file that was given last, with a NUL behind
 * it; the caller frees it.  Of a submodule git's line with its commit.
 * -EFBIG: more than `max` bytes, or too much in all; -ENOENT: it is not there,
 * cannot be read or is not its name; -ENOMEM.
 */
int hb_log_read(struct hb_log *log, enum hb_side side, size_t max,
		char **ret_bytes, size_t *ret_n);

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
