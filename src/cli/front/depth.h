/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_FRONT_DEPTH_H
#define HB_CLI_FRONT_DEPTH_H

#include "holdback/session.h"

#include <stdbool.h>
#include <stdint.h>

/* What takes a look into a session, and not at its record alone. */
struct depth {
	bool is_known;		   /* else it could not be looked into */
	uint64_t n_changes;	   /* files, and all of git as one */
	struct hb_summary summary; /* is_known */
	bool has_changes;	   /* of any kind; true where it is not known */
	bool has_past;		   /* a commit is in effect */
	char mark[HB_SESSION_NAME_SIZE]; /* the last one, or "" */
};

/*
 * Fails never: a session that cannot be looked into is told so.  `how` is a way
 * to look.
 */
void depth_look(struct hb_store *store, const char *name, enum hb_open how,
		struct depth *ret);

#endif
