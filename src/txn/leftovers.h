/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_LEFTOVERS_H
#define HB_TXN_LEFTOVERS_H

struct hb_error;
struct txn;

/*
 * Removes copies and records that no journal speaks of.  They are of a plan
 * that was never made durable, or of a commit that can be redone no more.
 */
int leftovers_sweep(struct txn *txn, struct hb_error *err);

#endif
