/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_ON_DISK_H
#define HB_SESSION_ON_DISK_H

#include <stdbool.h>

struct hb_error;
struct hb_store;
struct session_record;

/*
 * What a machine that goes down leaves of a session that has just been made:
 * everything, once both of these have returned 0.
 */

/*
 * The session's directory, open as `session`, and that of each resource's
 * store.  `with_objects`: also what lies directly in them, the record and the
 * tops of the layers; else the caller has synced those.
 */
int on_disk_session(const struct hb_store *store,
		    const struct session_record *record, int session,
		    bool with_objects, struct hb_error *err);

/*
 * The names of sessions.  `is_first`: and all directories that lead to them,
 * which may be as new.
 */
int on_disk_name(const struct hb_store *store, bool is_first,
		 struct hb_error *err);

#endif
