/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_SYNC_TEXT_H
#define HB_CLI_SHOW_SYNC_TEXT_H

#include "cli/show/doc.h"
#include "holdback/session.h"

/* How a sync that repeats itself looks. */

/* "30s", "5m", "2h". */
int sync_text_time(uint64_t seconds, struct buf *out);

/* "synced 14 times, 31 files; held: 2 files need approval", without an end. */
int sync_text_end(const struct hb_sync *sync, struct buf *out);

/*
 * The part of `status`: "sync every 30s, last 12:04:33, 2 held", or the object
 * "sync" of the document.  Nothing for a session without it.
 */
int sync_text_show(const struct hb_session *session, struct doc *doc,
		   struct hb_error *err);

#endif
