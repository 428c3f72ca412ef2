/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_ALIKE_NOTES_H
#define HB_SESSION_ALIKE_NOTES_H

#include <stdbool.h>

struct hb_error;
struct hb_session;

/*
 * What changes/alike/alike.h does, for all resources; nothing may be mounted.
 * Noting is as good as it can be: what is not noted is a conflict later on.
 */
void session_note_alike(struct hb_session *s, bool is_committed);
int session_drop_alike(struct hb_session *s, struct hb_error *err);
int session_drop_alike_before_box(struct hb_session *s, struct hb_error *err);
int session_forget_alike(struct hb_session *s, struct hb_error *err);

#endif
