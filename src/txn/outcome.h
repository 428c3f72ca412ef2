/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_OUTCOME_H
#define HB_TXN_OUTCOME_H

#include "txn/txn.h"

#include <stdbool.h>

struct apply;

/*
 * Tells `applied` of every path; see txn_applied_fn.  With `back` only of what
 * is as it was before.
 */
int outcome_report(struct apply *a, bool back, txn_applied_fn applied,
		   void *applied_ctx, struct hb_error *err);

#endif
