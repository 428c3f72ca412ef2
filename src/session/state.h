/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_STATE_H
#define HB_SESSION_STATE_H

#include "holdback/session.h"

/*
 * The transitions between states, one function each.  Each checks the table,
 * writes the record and only then changes what is in memory.
 */
int session_begin(struct hb_session *s, struct hb_error *err);
/*
 * What a box has left in a directory that was gone, with the boot of that box,
 * is to be settled now.
 */
int session_reopen(struct hb_session *s, const char *boot,
		   struct hb_error *err);
int session_end(struct hb_session *s, struct hb_error *err);
int session_break(struct hb_session *s, struct hb_error *err);
int session_mend(struct hb_session *s, struct hb_error *err);
int session_retire(struct hb_session *s, struct hb_error *err);

/* Writes the record as it is: no transition. */
int session_save(struct hb_session *s, struct hb_error *err);

/* -HB_E_BUSY unless we hold the lock. */
int session_needs_lock(const struct hb_session *s, struct hb_error *err);

/* Writes the record and syncs its directory as well. */
int session_save_durably(struct hb_session *s, struct hb_error *err);

/* For hb_session_info. */
enum hb_state session_shown_state(const struct hb_session *s);

#endif
