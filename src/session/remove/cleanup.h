/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_REMOVE_CLEANUP_H
#define HB_SESSION_REMOVE_CLEANUP_H

struct hb_error;
struct hb_session;
struct hb_store;
struct session_record;

/*
 * Removes the directory `gone` of the store, which is no session any more or
 * not yet, and its parts in its resources.  They are found by the record, or
 * without one by what the two places say of each other.
 */
int session_remove_gone(const struct hb_store *store, const char *gone,
			const struct session_record *record,
			struct hb_error *err);

/*
 * Removes a session that holds nothing, without a sync: if that is interrupted
 * there is one more that holds nothing.  The object can only be freed then.
 */
int session_drop(struct hb_session *s, struct hb_error *err);

/* hb_session_cleanup() without the state that is carried for the agent. */
int session_clean(struct hb_session *session, struct hb_error *err);

/*
 * Removes what of the session lies in berths: by its record, and by the notes
 * in its directory `gone` of the store.
 */
void session_remove_berths(const struct hb_store *store,
			   const struct session_record *record);
void session_remove_noted(const struct hb_store *store, const char *gone);

#endif
