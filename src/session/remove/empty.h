/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_REMOVE_EMPTY_H
#define HB_SESSION_REMOVE_EMPTY_H

#include "store/record.h"

#include <stdbool.h>

struct hb_session;

/* What hb_session_empty() does to a session, and its name says on disk. */
struct emptying {
	char name[sizeof("upper.to-") + RECORD_ID_SIZE]; /* where uppers go */
	char keep[RECORD_ID_SIZE]; /* the layer that stays on top; or "" */
};

/* `keep` NULL: no layer stays. */
void session_choose_empty(const char *keep, struct emptying *ret);

/* Begins it, and ends it; with the lock, and changes the record. */
int session_empty(struct hb_session *s, const struct emptying *e,
		  struct hb_error *err);

/*
 * Whether that was interrupted, told by a resource's store that has no upper;
 * and what finishes it.
 */
bool session_is_emptying(int dir);
int session_finish_emptying(struct hb_session *s, struct hb_error *err);

#endif
