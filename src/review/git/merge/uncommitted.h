/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGE_UNCOMMITTED_H
#define HB_REVIEW_GIT_MERGE_UNCOMMITTED_H

struct changes;
struct hb_error;
struct hb_session;
struct merge_repo;
struct unit;

/* In the git directory of a session aside: files of the session. */
#define UNCOMMITTED_DIR "holdback-from"

/*
 * Copies what a commit of the session's changes needs into a session aside, for
 * a session on a branch of its own.  The commit is that of `git commit -a` in
 * the session with its new files: docs/decisions/0080.  Files of the user that
 * the session left alone are no part of it, nor are paths in another
 * repository.
 *
 *	DIR/tree/	files and links that the session has
 *	DIR/there	their names, each with a NUL behind it
 *	DIR/gone	likewise, those that the session has not
 *	DIR/fresh	those of them that the session's index has not
 *	DIR/info	entries as at the beginning, for update-index
 *	DIR/ignored	of git: those of `fresh` that files of the session
 *ignore
 *
 * `unit` is the repository's; the change set has ignored files marked.  Fills
 * in `taken` and `stays` of the repository.  -HB_E_CONFLICT: the session has
 * work that no such commit would have, and the error has the path.
 */
int uncommitted_copy(struct merge_repo *repo, const struct hb_session *s,
		     const struct unit *unit, struct changes *changes,
		     const struct hb_session *aside, struct hb_error *err);

/* After git has made the commit: reads `ignored` back. */
int uncommitted_read(struct merge_repo *repo, const struct hb_session *aside,
		     struct hb_error *err);

#endif
