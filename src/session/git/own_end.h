/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_OWN_END_H
#define HB_SESSION_GIT_OWN_END_H

struct hb_error;
struct hb_session;

/*
 * Before an undo or a redo, which put objects where a beginning has put others.
 * Takes the beginning out of the upper if the session has no changes since.
 * The next box begins anew.  Cut short anywhere, the session has not begun, and
 * what is left of the beginning is still known as that.
 */
int own_end(struct hb_session *s, struct hb_error *err);

#endif
