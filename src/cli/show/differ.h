/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_DIFFER_H
#define HB_CLI_SHOW_DIFFER_H

struct cmd_call;
struct hb_session_info;

/*
 * Shows the text of a session's changes by the executable that can.  At one
 * path it goes straight to the terminal; with NULL all changes go through the
 * pager.  A failure is said, and nothing else comes of it.
 */
void differ_show(const struct cmd_call *call,
		 const struct hb_session_info *info, const char *path);

/* The same of the session's commits, straight to the terminal. */
void differ_show_commits(const struct cmd_call *call,
			 const struct hb_session_info *info);

#endif
