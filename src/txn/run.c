/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/run.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/tree.h"
#include "txn/apply.h"
#include "txn/databases.h"
#include "txn/git_locks.h"
#include "txn/held.h"
#include "txn/history.h"
#include "txn/late.h"
#include "txn/leftovers.h"
#include "txn/outcome.h"
#include "txn/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/*
 * Two transactions on one base take turns, and the second keeps the lock that
 * it waited for.  A lock that is looked at, left and taken again could be
 * another program's by then.
 */
#define LOCK_PAUSE 20 /* ms */

static void release(struct run_locks *locks)
{
	while (locks->n > 0)
		sys_close(locks->fds[--locks->n]);
}

/*
 * All of them or none, so that two who name their bases in another order do not
 * wait for each other.
 */
static int lock_all(struct run_locks *locks, struct txn *txn, size_t *ret_at)
{
	for (size_t i = 0; i < txn->n_resources; i++) {
		int fd = parts_open_base(&txn->resources[i]);
		int r = fd < 0 ? fd : sys_flock(fd);

		if (fd >= 0)
			locks->fds[locks->n++] = fd;
		/* Who may not read it cannot be locked out, nor lock others. */
		if (r == 0 || fd == -EACCES)
			continue;
		release(locks);
		*ret_at = i;
		return r;
	}
	return 0;
}

int run_lock(struct run_locks *locks, struct txn *txn, struct hb_error *err)
{
	const char *source;
	size_t at = 0;
	int r;

	*locks = (struct run_locks){ .n = 0 };
	locks->fds = calloc(txn->n_resources + 1, sizeof(*locks->fds));
	if (!locks->fds)
		return hb_fail(err, -ENOMEM, "cannot lock the resources");
	for (int left = txn->lock_wait / LOCK_PAUSE;; left--) {
		r = lock_all(locks, txn, &at);
		if (r != -EWOULDBLOCK || left <= 0)
			break;
		sys_pause(LOCK_PAUSE);
	}
	if (r == 0)
		return 0;
	run_unlock(locks);
	source = txn->resources[at].record->source;
	source = source ? source : ".";
	if (r == -EWOULDBLOCK) {
		hb_fix(err, "try again when it has ended");
		return hb_fail(err, -HB_E_BUSY,
			       "another program has '%s' locked", source);
	}
	return hb_fail(err, r, "cannot lock '%s'", source);
}

void run_unlock(struct run_locks *locks)
{
	release(locks);
	free(locks->fds);
	*locks = (struct run_locks){ .n = 0 };
}

int run_check_idle(struct txn *txn, struct hb_error *err)
{
	struct sys_attr a;
	int r = sys_attr_at(txn->session, "journal", &a);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return hb_fail(err, r, "cannot look for a journal");
	hb_fix(err, "holdback recover");
	return hb_fail(err, -HB_E_STATE, "a change is not finished");
}

/*
 * The other way round, past entries that another program has changed, and as if
 * nothing had been.
 */
static int take_back(struct run_request *run, struct apply *a, bool back,
		     struct hb_error *err)
{
	unsigned how = APPLY_PAST | (back ? 0 : APPLY_BACK) |
		       (run->is_recovery ? 0 : APPLY_FIRST);
	int r;

	databases_drop(a->txn);
	r = git_locks_apply(a, how, err);
	if (r >= 0)
		r = databases_end(a, !back, true, err);
	if (r >= 0)
		r = parts_run(a, true, err);
	if (r < 0)
		return r;
	/*
	 * An object that moved there and back has a new ctime, and would look
	 * changed by another program.  Where the report cannot be kept, it will
	 * look so: a full disk may be the reason to be here.
	 */
	(void)outcome_report(a, !back, run->applied, run->applied_ctx, NULL);
	r = apply_sync(a, err);
	return r < 0 ? r : history_abandon(a, err);
}

static int run_forward(struct run_request *run, struct apply *a, bool back,
		       struct hb_error *err)
{
	unsigned how =
		(back ? APPLY_BACK : 0) | (run->is_recovery ? 0 : APPLY_FIRST);
	int r;

	r = databases_hold(a, back, err);
	if (r >= 0)
		r = git_locks_apply(a, how, err);
	if (r >= 0 && a->n_left > 0)
		r = apply_run(a, how | APPLY_PAST, err);
	if (r >= 0 && !back)
		r = late_check(a, err);
	if (r >= 0)
		r = held_check(a, back, err);
	if (r >= 0)
		r = databases_end(a, back, false, err);
	if (r >= 0)
		r = parts_run(a, false, err);
	if (r < 0)
		return r;
	r = outcome_report(a, back, run->applied, run->applied_ctx, err);
	return r < 0 ? r : apply_sync(a, err);
}

/*
 * Everything is in place and nothing of it can be lost any more.  To call a
 * record that is not complete a failure, to be tried again, would be wrong.
 */
static int finish(struct run_request *run, struct apply *a, bool back,
		  struct hb_error *err)
{
	struct hb_error why = { 0 };
	int r;

	run->undo_bytes = back ? 0 : journal_head(a->journal)->undo_bytes;
	r = history_finish(a, back, &why);
	if (r < 0 && run->is_recovery) {
		(void)hb_pass(err, &why, r);
		return hb_fail(err, r,
			       "the changes are in place, but their record is "
			       "not complete");
	}
	if (r == 1)
		(void)leftovers_sweep(a->txn, NULL);
	a->txn->is_unfinished = r < 0;
	a->txn->unfinished = why;
	return apply_tell_left(a, err);
}

/* After a crash only what we see to be wrong is taken back. */
static int give_up(struct run_request *run, struct apply *a, bool back, int r,
		   struct hb_error *why, struct hb_error *err)
{
	bool is_wrong = r == -HB_E_CONFLICT || r == -HB_E_STATE;
	struct hb_error second = { 0 };
	bool is_back = (!run->is_recovery || is_wrong) &&
		       take_back(run, a, back, &second) == 0;

	run->went_back = is_back;
	if (is_back && run->is_recovery && a->n_left == 0)
		return 0;
	/* A conflict would mean that nothing has changed. */
	if (is_back ? a->n_left > 0 : r == -HB_E_CONFLICT) {
		r = -HB_E_STATE;
		why->code = HB_E_STATE;
	}
	if (is_back) {
		(void)apply_tell_left(a, why);
	} else if (second.text[0] != '\0') {
		hb_fix(why, "holdback recover");
		(void)hb_fail(why, r, "not finished (%s)", second.text);
	}
	return hb_pass(err, why, r);
}

static int run_opened(struct run_request *run, struct apply *a,
		      struct hb_error *err)
{
	bool back = journal_head(a->journal)->kind == JOURNAL_UNDO;
	struct hb_error why = { 0 };
	int done, r;

	done = journal_is_done(a->txn->session, journal_head(a->journal)->hash,
			       err);
	if (done < 0)
		return done;
	if (run->back && !done) {
		run->went_back = true;
		r = take_back(run, a, back, err);
		return r < 0 ? r : apply_tell_left(a, err);
	}
	r = done ? 0 : run_forward(run, a, back, &why);
	return r < 0 ? give_up(run, a, back, r, &why, err)
		     : finish(run, a, back, err);
}

int run_journal(struct run_request *run, struct hb_error *err)
{
	struct journal *journal = NULL;
	struct apply a = { 0 };
	int r;

	run->txn->n_left = 0;
	run->txn->is_unfinished = false;
	r = journal_open(run->txn->session, "journal", &journal, err);
	if (r < 0)
		return r;
	r = apply_init(&a, run->txn, journal, err);
	if (r >= 0)
		r = run_opened(run, &a, err);
	(void)git_locks_drop(&a, NULL);
	databases_drop(run->txn);
	apply_done(&a);
	return r;
}
