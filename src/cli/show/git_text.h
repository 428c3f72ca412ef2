/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_GIT_TEXT_H
#define HB_CLI_SHOW_GIT_TEXT_H

#include "cli/show/doc.h"
#include "holdback/session.h"

struct hb_git_ref;

/* "main: 2 commits (abc1234 Add cache, def4567 Fix test)" */
int git_text_line(const struct hb_git_ref *ref, struct buf *out);

/*
 * A line for each branch and tag that the session made, moved or deleted, with
 * its commits; or the array "git" of the document.  Rewinds the changes.
 */
int git_show(struct hb_session *session, struct hb_changes *changes,
	     struct doc *doc, struct hb_error *err);

#endif
