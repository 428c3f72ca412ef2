/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_LIVE_TEXT_H
#define HB_CLI_SHOW_LIVE_TEXT_H

#include "cli/show/doc.h"
#include "holdback/session.h"

/*
 * The part of `status` about a live session, and nothing for another session.
 * It is a line, with `all` also the view, its commands and its mounts, or the
 * object "live" of the document.
 */
int live_show(struct hb_session *session, bool all, struct doc *doc,
	      struct hb_error *err);

#endif
