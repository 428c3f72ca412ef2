/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_SCREEN_H
#define HB_CLI_SHOW_SCREEN_H

#include "cli/show/doc.h"
#include "holdback/session.h"

#include <stdbool.h>

/* What `status` shows, as much as a screen takes, or in a document. */

/*
 * How its directories are held back, whether they are mounted and how much is
 * pending; in a document, or with `all`, where that lies.
 */
int screen_state(struct hb_session *session, const struct hb_summary *summary,
		 bool all, struct doc *doc, struct hb_error *err);

/*
 * As text.  Deleted paths, conflicts and paths that commit asks about come
 * first and are never left out.  Then come the newest of the rest, and their
 * number.  What is deleted with its directory is counted there.  With `all`
 * nothing is left out, and files of which only the time changed are there as
 * well.
 */
int screen_changes(const struct hb_session_info *info,
		   struct hb_changes *changes, bool all, struct doc *doc,
		   struct hb_error *err);

/*
 * What the gate would have to say, as counts: a line if it is something, or the
 * object "gate" of the document.
 */
int screen_gate(struct hb_session *session, struct hb_changes *changes,
		struct doc *doc, struct hb_error *err);

/* The last commits, with what undo has to keep for each. */
int screen_past(struct hb_session *session, struct doc *doc,
		struct hb_error *err);

#endif
