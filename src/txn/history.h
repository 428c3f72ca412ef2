/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_HISTORY_H
#define HB_TXN_HISTORY_H

#include "txn/apply.h"
#include "txn/txn.h"

#include <stdint.h>

/*
 * The transactions of a session that are finished, each by its journal:
 *
 *	done/ID		in effect, and undo reverses the one with the highest ID
 *	undone/ID	reversed, and redo applies the one with the lowest ID
 */
enum history {
	HISTORY_DONE,
	HISTORY_UNDONE,
	HISTORIES
};

/* The transaction that undo or redo is about.  -ENOENT: there is none. */
int history_last(int session, enum history which, uint64_t *ret_id,
		 struct hb_error *err);

/* Calls `fn` with each; below 0 ends it. */
typedef int (*history_fn)(void *ctx, uint64_t id, struct hb_error *err);
int history_each(int session, enum history which, history_fn fn, void *ctx,
		 struct hb_error *err);

/* The same for the entries of a directory that are such numbers. */
int history_each_in(int dir, const char *name, history_fn fn, void *ctx,
		    struct hb_error *err);

/* Whether there is a journal of that number, in effect or reversed. */
bool history_has(int session, uint64_t id);

/*
 * The transaction cannot be undone or redone any more; durable.  What it has
 * in undo/, txn/ and trash/ is of no use then.
 */
int history_drop(int session, enum history which, uint64_t id,
		 struct hb_error *err);

/* Above every other. */
int history_next_id(int session, uint64_t *ret_id, struct hb_error *err);

int history_open(int session, enum history which, uint64_t id,
		 struct journal **ret_journal, struct hb_error *err);

/*
 * When it was put there: an object with this ctime or a later one was changed
 * since then, and nothing of our own was.
 */
int history_stamp(int session, enum history which, uint64_t id,
		  struct timespec *ret_stamp, struct hb_error *err);

/*
 * Says that the journal in flight is done and files it where it belongs; after
 * it `back` tells which side the base is on.  Can be repeated after a crash at
 * any call.  Returns 1 if nothing can be redone any more.
 */
int history_finish(struct apply *a, bool back, struct hb_error *err);

/* The journal in flight has come to nothing: it and its copies go. */
int history_abandon(struct apply *a, struct hb_error *err);

/*
 * Nothing can be redone any more; durable.  history_finish() does so for a
 * commit or rollback, and leftovers_sweep() removes the copies.
 */
int history_forget_undone(int session, struct hb_error *err);

#endif
