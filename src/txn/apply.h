/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_APPLY_H
#define HB_TXN_APPLY_H

#include "txn/journal.h"
#include "txn/site.h"
#include "txn/step.h"
#include "txn/txn.h"

#include <stdbool.h>

struct hb_error;

/* A journal and the places that it speaks of. */
struct apply {
	struct txn *txn;
	struct journal *journal; /* owned */
	struct site *sites;
	struct step *steps; /* one per resource */
};

/* Takes the journal, also on failure. */
int apply_init(struct apply *a, struct txn *txn, struct journal *journal,
	       struct hb_error *err);
void apply_done(struct apply *a);

/*
 * Brings every operation to its end, or with `back` to its beginning.  With
 * `is_first` nobody has tried before.  Stops at the first failure.
 */
int apply_run(struct apply *a, bool back, bool is_first, struct hb_error *err);

/* Makes what was moved durable. */
int apply_sync(struct apply *a, struct hb_error *err);

/* Tells `applied` of every path; see txn_applied_fn. */
int apply_report(struct apply *a, bool back, txn_applied_fn applied,
		 void *applied_ctx, struct hb_error *err);

#endif
