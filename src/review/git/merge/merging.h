/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGING_H
#define HB_REVIEW_GIT_MERGING_H

struct changes;
struct deciding;
struct deliver;
struct hb_error;
struct kept_refs;

/*
 * Delivers a repository whose commits were merged (merge.h), where
 * deciding_ask() had to send them to a branch.  Adds all items, also those of
 * the work tree:
 *
 *	in the session as in the merge	as the session has it
 *	otherwise in the merge		made, as the merge has it
 *	in the session's commits alone	settled: the merge has the base's
 *	in no commit of the session	by the usual rules
 *
 * -HB_E_CONFLICT: the base moved since the merge was made, or the session has
 * changes that are in no commit at a path of the merge.
 */
int merging_deliver(struct deciding *d, const struct deliver *deliver,
		    const struct kept_refs *kept,
		    struct changes *const *changes, struct hb_error *err);

#endif
