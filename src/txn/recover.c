/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "txn/check.h"
#include "txn/history.h"
#include "txn/leftovers.h"
#include "txn/run.h"
#include "txn/txn.h"

#include <errno.h>

/*
 * Recovery
 * --------
 *
 * The loop of every transaction, from wherever the objects lie.  It writes
 * nothing of its own, so killing it leaves what a killed commit leaves.
 *
 * An operation that was not made yet cannot be made once another program has
 * changed its entry.  That turns it round, as it would have turned the commit.
 */
int txn_recover(struct txn *txn, bool back, enum txn_recovered *ret_what,
		struct hb_error *err)
{
	struct run_request run = { .txn = txn,
				   .applied = txn->applied,
				   .applied_ctx = txn->applied_ctx,
				   .is_recovery = true,
				   .back = back };
	enum txn_recovered what = RECOVERED_NOTHING;
	struct txn_state state;
	auto_run_locks struct run_locks locks = { 0 };
	int r;

	r = run_lock(&locks, txn, err);
	if (r < 0)
		return r;
	txn->n_left = 0;
	r = txn_check(txn, &state, err);
	if (r < 0)
		return hb_fail(err, r, "cannot recover");
	r = run_journal(&run, err);
	if (r == -ENOENT)
		r = 0;
	else if (r == 0)
		what = run.went_back ? RECOVERED_BACK : RECOVERED_FORWARD;
	if (r == -HB_E_STATE)
		hb_fix(err, "look at both copies, in the base and in undo/ of "
			    "the session");
	if (r == 0)
		r = leftovers_sweep(txn, err);
	if (r < 0)
		return hb_fail(err, r,
			       txn->n_left ? "recovered, but for some"
					   : "cannot recover");
	*ret_what = what;
	return 0;
}
