/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_REMOVE_EMPTY_H
#define HB_SESSION_REMOVE_EMPTY_H

#include <stdbool.h>

struct hb_error;
struct hb_session;

/*
 * Whether hb_session_empty() was interrupted, told by a resource's store that
 * has no upper; and what finishes it, with the lock.
 */
bool session_is_emptying(int dir);
int session_finish_emptying(struct hb_session *s, struct hb_error *err);

#endif
