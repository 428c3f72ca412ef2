/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_APPLY_H
#define HB_TXN_APPLY_H

#include "base/buf.h"
#include "txn/journal.h"
#include "txn/site.h"
#include "txn/step.h"
#include "txn/txn.h"

/* A journal and the places that it speaks of. */
struct apply {
	struct txn *txn;
	struct journal *journal; /* owned */
	struct site *sites;
	struct step *steps; /* one per resource */
	struct buf left;    /* names of entries left to another program */
	uint64_t n_left;
};

/* Takes the journal, also on failure. */
int apply_init(struct apply *a, struct txn *txn, struct journal *journal,
	       struct hb_error *err);
void apply_done(struct apply *a);

enum apply_how {
	APPLY_BACK = 1 << 0,  /* to the beginning, not to the end */
	APPLY_FIRST = 1 << 1, /* no attempt was made before */
	/*
	 * On past an entry that another program has changed, which is left as
	 * it is, counted in `n_left` and told.  Without it that is the first
	 * failure, unless it was at its end before: then it is only counted.
	 */
	APPLY_PAST = 1 << 2,
};

/*
 * Brings every operation to its end or beginning.  Stops at the first failure.
 */
int apply_run(struct apply *a, unsigned how, struct hb_error *err);

/* 0, or if something was left -HB_E_STATE with the names. */
int apply_tell_left(const struct apply *a, struct hb_error *err);

/* Makes what was moved durable. */
int apply_sync(struct apply *a, struct hb_error *err);

#endif
