/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_REMOVE_VOID_H
#define HB_SESSION_REMOVE_VOID_H

#include <stdbool.h>

struct hb_error;
struct hb_session;

/*
 * Whether the top of a resource may have been changed: its own attributes.  The
 * resources are open.
 */
bool session_has_other_top(const struct hb_session *s);

/*
 * Whether nothing would be missed if the session were gone: `run` made it,
 * nothing is pending in it and nothing was committed from it.  `is_empty`: by
 * session_seems_void() its layers hold no name.
 */
int session_is_void(struct hb_session *s, bool is_empty, struct hb_error *err);

/*
 * Whether it looks like that at once, also while a box is mounted in which
 * nothing runs any more.  False: it takes a closer look, after the box.
 */
bool session_seems_void(struct hb_session *s);

#endif
