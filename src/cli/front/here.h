/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_FRONT_HERE_H
#define HB_CLI_FRONT_HERE_H

#include "holdback/session.h"

#include <stdbool.h>
#include <stddef.h>

/* More than these are not looked at, nor named. */
#define HERE_MAX 64

/* The sessions that have the working directory in them, the last used first. */
struct here {
	struct here_session {
		char name[HB_SESSION_NAME_SIZE];
		char profile[HB_SESSION_NAME_SIZE]; /* cut where it is long */
		int64_t used;
		long used_nsec;
		enum hb_state state;
	} sessions[HERE_MAX];
	size_t n;
};

/* By their records alone.  The caller frees; on failure there is nothing. */
int here_find(struct hb_store *store, struct here **ret, struct hb_error *err);

/*
 * Whether a run could go on in one of them.  It looks no further than the first
 * such session.
 */
bool here_has_free(struct hb_store *store);

/* Whether a run could go on in it: no other command is at work there. */
bool here_is_free(const struct here_session *session);

#endif
