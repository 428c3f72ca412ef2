/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_SYNC_NOTE_H
#define HB_SESSION_LIVE_SYNC_NOTE_H

struct hb_session;

/*
 * What a sync that repeats itself tells others: a file `sync` in the session's
 * directory.  hb_session_note_sync() and hb_session_noted_sync() write and read
 * it.  A box that begins has none yet.
 */
void sync_note_remove(const struct hb_session *s);

#endif
