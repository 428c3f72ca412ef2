/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_AS_BRANCH_H
#define HB_REVIEW_GIT_AS_BRANCH_H

struct changes;
struct deciding;
struct deliver;
struct delivered;
struct hb_error;

/*
 * A commit that brings objects and one new branch, and leaves all else of the
 * session pending: files, other references, HEAD and index.
 */

/* The reference, to be freed; NULL: there is no name, or no memory. */
char *as_branch_ref(const char *name);

/* -HB_E_USAGE: git takes no such name. */
int as_branch_need_name(const char *name, struct hb_error *err);

/* -HB_E_STATE: the real repository has it, or another that is in its way. */
int as_branch_need_free(const struct deciding *d, const char *name,
			struct hb_error *err);

/*
 * Holds each change that is neither an object nor decided about.  -HB_E_STATE:
 * no repository has commits for the branch.
 */
int as_branch_hold_rest(const struct deliver *deliver,
			struct changes *const *changes, struct delivered *lists,
			struct hb_error *err);

#endif
