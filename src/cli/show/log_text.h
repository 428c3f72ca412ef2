/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_LOG_TEXT_H
#define HB_CLI_SHOW_LOG_TEXT_H

#include <stdbool.h>

struct buf;
struct hb_event;

/*
 * Adds the line of a record for people, with its end: time, session, event,
 * and the path or words that it is about, quoted.
 */
int log_text_add(const struct hb_event *event, bool has_colour,
		 struct buf *out);

/* Whether something was refused: to a command, or by the gate. */
bool log_text_is_denial(const struct hb_event *event);

/* The advice that fits a denial; NULL: there is none. */
const char *log_text_fix(const struct hb_event *event);

#endif
