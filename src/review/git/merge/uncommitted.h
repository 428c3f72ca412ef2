/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGE_UNCOMMITTED_H
#define HB_REVIEW_GIT_MERGE_UNCOMMITTED_H

#include <stdbool.h>

struct change;
struct changes;
struct hb_error;
struct hb_session;
struct merge_repo;
struct resource;

/* In the git directory of a session aside: files of the session. */
#define UNCOMMITTED_DIR "holdback-from"

/*
 * Copies what a commit of the session's changes needs into a session aside, for
 * a session on a branch of its own.  That is each changed path of the change
 * set which git can have: never files of the user that the session left alone.
 * Paths in another repository stay out.
 *
 *	DIR/tree/	files and links that the session has
 *	DIR/there	their names, each with a NUL behind it
 *	DIR/gone	likewise, those that the session has not
 */
int uncommitted_copy(const struct merge_repo *repo, const struct hb_session *s,
		     struct changes *changes, const struct hb_session *aside,
		     struct hb_error *err);

/* Whether a change of the session's work tree becomes a part of that commit. */
bool uncommitted_takes(const struct merge_repo *repo,
		       const struct resource *tree,
		       const struct change *change);

#endif
