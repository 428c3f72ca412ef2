/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_REMOVE_VOID_H
#define HB_SESSION_REMOVE_VOID_H

struct hb_error;
struct hb_session;

/*
 * Whether nothing would be missed if the session were gone: `run` made it,
 * nothing is pending in it and nothing was committed from it.
 */
int session_is_void(struct hb_session *s, struct hb_error *err);

#endif
