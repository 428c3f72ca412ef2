/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_RUN_H
#define HB_TXN_RUN_H

#include "changes/conflict.h"
#include "txn/txn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What commit, undo, redo, rollback and recovery have in common. */

/* One lock per base, so that two sessions do not commit to one at a time. */
struct run_locks {
	int *fds;
	size_t n;
};

/* -HB_E_BUSY: another session is at it, and was for all of txn->lock_wait. */
int run_lock(struct run_locks *locks, struct txn *txn, struct hb_error *err);
void run_unlock(struct run_locks *locks);
#define auto_run_locks __attribute__((cleanup(run_unlock)))

/* What tells others' changes to the base from ours; not the kind of base. */
static inline struct conflict_rule run_rule(const struct txn *txn,
					    size_t resource)
{
	return (struct conflict_rule){
		.t0 = txn->resources[resource].t0,
		.seen = txn->seen,
		.seen_ctx = txn->seen_ctx ? txn->seen_ctx[resource] : NULL,
	};
}

/* -HB_E_STATE: a journal is in flight, and txn_recover() comes first. */
int run_check_idle(struct txn *txn, struct hb_error *err);

struct run_request {
	struct txn *txn;
	txn_applied_fn applied;
	void *applied_ctx;
	bool is_recovery;
	bool back; /* against the journal's own direction */
	/* set on success */
	uint64_t undo_bytes;
	bool went_back;
};

/*
 * Runs the journal in flight to its end and files it.  After a failure all is
 * taken back and the failure returned: nothing has happened then.  Entries that
 * another program has changed are left: -HB_E_STATE with txn->n_left.  Only if
 * taking back fails as well the journal stays.
 */
int run_journal(struct run_request *run, struct hb_error *err);

#endif
