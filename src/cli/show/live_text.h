/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_LIVE_TEXT_H
#define HB_CLI_SHOW_LIVE_TEXT_H

#include "cli/show/doc.h"
#include "holdback/session.h"

/*
 * What `status` has to say of a session that is live, and nothing of another:
 * a line, with `all` the view, the commands in it and what is mounted, or the
 * object "live" of the document.
 */
int live_show(struct hb_session *session, bool all, struct doc *doc,
	      struct hb_error *err);

#endif
