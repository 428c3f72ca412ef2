/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_GONE_TEXT_H
#define HB_CLI_SHOW_GONE_TEXT_H

#include "cli/show/doc.h"
#include "holdback/session.h"

/*
 * What is pending in directories that are gone: a line for each path, or the
 * array "gone" of the document.
 */
int gone_show(struct hb_session *session, struct doc *doc,
	      struct hb_error *err);

/* One line on standard error for each of these directories. */
int gone_say(struct hb_session *session, struct hb_error *err);

#endif
