/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_INTERRUPTION_H
#define HB_SESSION_INTERRUPTION_H

#include <stdbool.h>

struct hb_error;
struct hb_session;

/* Whether a change may have been interrupted. */
bool session_has_journal(const struct hb_session *s);

/* What was, by its name, or NULL; damaged: it cannot be finished as it is. */
const char *session_interrupted(const struct hb_session *s, bool *ret_damaged);

/*
 * Whether who throws changes away has to reverse it: its end would bring them
 * to the real directory.
 */
bool session_goes_back(const struct hb_session *s);

/* -HB_E_STATE, for who was to look at it. */
int session_fail_interrupted(const struct hb_session *s, struct hb_error *err);

#endif
