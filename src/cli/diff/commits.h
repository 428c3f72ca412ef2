/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_COMMITS_H
#define HB_CLI_DIFF_COMMITS_H

struct doc;
struct hb_changes;
struct hb_error;
struct hb_session;
struct paint;

/*
 * The commits of a session as `git log -p --date-order --no-renames` shows
 * them, without notes and mailmap.  Our own words are in lines that begin
 * with '#'.  Rewinds the changes.
 */
int commits_paint(struct hb_session *session, struct hb_changes *changes,
		  struct paint *paint, struct hb_error *err);

/* The same as the array "commits" of the document. */
int commits_json(struct hb_session *session, struct hb_changes *changes,
		 struct doc *doc, struct hb_error *err);

#endif
