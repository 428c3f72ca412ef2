/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_TAKE_H
#define HB_SESSION_LIVE_TAKE_H

#include <stdbool.h>

struct hb_error;
struct hb_session;

/*
 * A newer copy in the place of the session's, which must not be in use.  With
 * `stays_still` the box waits until taken_thaw().
 */
int taken_again(struct hb_session *s, bool stays_still, struct hb_error *err);

#endif
