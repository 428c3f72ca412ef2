/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_CHANGESET_H
#define HB_REVIEW_CHANGESET_H

#include <stdbool.h>
#include <stddef.h>

struct change;
struct resource;

struct changes_filter;
struct hb_changes;
struct hb_changes_options;
struct hb_error;
struct hb_session;

/* The change set of one resource; NULL: it is one of `since`. */
struct changes *session_changes_of(struct hb_changes *changes, size_t resource);

/* What the gate has found in it, which hb_session_gate() fills. */
struct found *session_changes_found(struct hb_changes *changes);

/*
 * The change sets of all resources as a transaction with this filter may take
 * them for reviewed, and their hash; false: it may not.
 */
bool session_changes_review(struct hb_changes *changes,
			    const struct changes_filter *filter,
			    struct changes *const **ret_changes,
			    const char **ret_hash);

/* The filter that a change set was made with. */
const struct changes_filter *
session_changes_filter(const struct hb_changes *changes);

/* hb_session_changes() without another try where a command moves names. */
int session_look_once(struct hb_session *session,
		      const struct hb_changes_options *options,
		      struct hb_changes **ret_changes, struct hb_error *err);

/*
 * The change that hb_changes_next() gave last, of the session's own changes;
 * NULL: there is none, or it is of a mark.
 */
const struct change *session_changes_last(const struct hb_changes *changes,
					  const struct resource **ret_resource);

#endif
