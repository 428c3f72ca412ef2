/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_CARRY_SETTLE_H
#define HB_SESSION_PUBLISH_CARRY_SETTLE_H

#include <stdbool.h>

struct hb_error;
struct hb_session;

/*
 * After a box, with the session's lock and after publish_settle(): what the
 * agent wrote to its state is carried, and leaves the session.
 *
 * (a) A kill at any call leaves each file carried in its old or its new
 *     version, and the next call of this goes on.
 * (b) A file that this box did not write is not written.
 * (c) What cannot be carried stays in the session, and is said; so does all of
 *     it if the machine went down and it `is_lost`.
 *
 * tests/unit/t_carry.c and tests/cli/carry.sh hold these.
 */
int carry_settle(struct hb_session *s, bool is_lost, struct hb_error *err);

/* Nothing that this session wrote is carried any more. */
int carry_forget(struct hb_session *s, struct hb_error *err);

#endif
