/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_SETTLE_H
#define HB_SESSION_SETTLE_H

#include "txn/txn.h"

#include <stdbool.h>

struct hb_session;

/*
 * Finishes or reverses what a crash interrupted, and says so.  With `back`
 * reverses.
 */
int session_settle_journal(struct hb_session *s, bool back,
			   enum txn_recovered *ret_what, struct hb_error *err);

/*
 * After a transaction that succeeded: files its journal if it could not be
 * before.  False: it still cannot, and the user was told that it is all there,
 * in the words `in_place`.
 */
bool session_finish(struct hb_session *s, const char *in_place);

/*
 * A transaction has left entries to the user: breaks the session, so that this
 * is not overlooked, and says what mends it.
 */
void session_leave(struct hb_session *s, struct hb_error *err);

/* How a box came to its end. */
enum settle_how {
	SETTLE_ENDED,
	SETTLE_OR_DROP, /* the same, of a session that may be dropped */
	SETTLE_EMPTY,	/* the same, and session_seems_void() */
	SETTLE_CRASHED, /* not by itself */
};

/*
 * What a box that ended owes: sees to it that its writes are on disk, and
 * records that.  1 for SETTLE_OR_DROP and SETTLE_EMPTY: the session is void;
 * nothing was written or synced, and the caller drops it.
 */
int session_settle_box(struct hb_session *s, enum settle_how how,
		       struct hb_error *err);

/* The sync that was cut short by an interrupt, or by the end of the machine. */
int session_settle_sync(struct hb_session *s, struct hb_error *err);

/* Puts the work directories of ended boxes away. */
int session_drop_work(struct hb_session *s, struct hb_error *err);

#endif
