/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_LAPSED_H
#define HB_SESSION_LIVE_LAPSED_H

#include "changes/changes.h"
#include "txn/txn.h"

struct hb_error;
struct hb_session;

/*
 * The time between the copy of a live session and its arrival in the base.  The
 * box goes on meanwhile.  A file that it renames then, as editors do when they
 * save, was not in the base yet: no whiteout says that it is gone.  The copy
 * has it, and it would stay in the base for ever.
 *
 * So the box is still once more, from before the journal until all is in place.
 * The upper may have an object of the copy no more, not even as a whiteout.
 * Then the copy is made again, and the commit is planned anew.  To leave that
 * object out would make a state that never was: its new name is not in the
 * copy.
 */
struct lapsed {
	struct hb_session *session;
	txn_publishing_fn next; /* of the stack */
	void *next_ctx;
};

/*
 * The transaction of a session with a copy looks at it before the journal, and
 * after what others attached to it.  -HB_E_BUSY with `has_lapsed` of the copy:
 * it is too old.
 */
void lapsed_attach(struct lapsed *lapsed, struct hb_session *s,
		   struct txn *txn);

/*
 * Of type txn_applied_fn, with the session: what the session remembers is about
 * the real upper.  All is in place when it is called, and the box goes on.
 */
int lapsed_applied(void *ctx, size_t resource, const struct seen *seen,
		   struct hb_error *err);

#endif
