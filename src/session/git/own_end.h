/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_OWN_END_H
#define HB_SESSION_GIT_OWN_END_H

#include <stdbool.h>

struct hb_error;
struct hb_session;

/*
 * Before an undo or a redo, which put objects where a beginning has put others.
 * Takes the beginning out of the upper if it came after the last transaction
 * and the session has no changes since.  The next box begins anew.  Cut short
 * anywhere, it is a beginning that was cut short.  -HB_E_CONFLICT: it has to
 * stay, and an earlier record would not know all of it.
 */
int own_end(struct hb_session *s, bool is_undo, struct hb_error *err);

#endif
