/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_SELECTION_H
#define HB_CLI_COMMANDS_SELECTION_H

#include <stddef.h>

struct cmd_call;
struct hb_changes;
struct hb_error;
struct hb_session_info;

/* The paths that the user leaves out of a commit, absolute; zero is none. */
struct selection {
	char **left;
	size_t n_left;
};

void selection_done(struct selection *selection);

/* Leaves one path of a resource out. */
int selection_leave(struct selection *selection,
		    const struct hb_session_info *info, size_t resource,
		    const char *path, struct hb_error *err);

/*
 * Shows the changes in the user's editor: a line that is gone afterwards is
 * left out.  Returns how many are; 0: all are still wanted.  The changes are
 * rewound.
 */
int selection_edit(struct selection *selection, const struct cmd_call *call,
		   const struct hb_session_info *info,
		   struct hb_changes *changes, struct hb_error *err);

#endif
