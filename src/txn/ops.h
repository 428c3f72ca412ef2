/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_OPS_H
#define HB_TXN_OPS_H

#include "changes/conflict.h"
#include "tree/syncer.h"
#include "txn/journal.h"
#include "txn/site.h"
#include "txn/survey.h"

/* One resource's changes, on their way into the journal. */
struct ops_request {
	struct txn *txn;
	const struct txn_options *options;
	struct changes *changes;
	const struct survey *survey;
	struct site *site;
	uint32_t resource;
	struct conflict_rule rule;
	struct journal_writer *writer;
	struct syncer *syncer;
	uint64_t first_slot;
};

/*
 * Reads the change set once more, checks every operation, stages the copies
 * that are needed, and writes the operations in their order.  `ret_slot` is the
 * slot that is free next.  Nothing but txn/ID has changed, on success and on
 * failure.
 */
int ops_write(const struct ops_request *request, uint64_t *ret_slot,
	      struct hb_error *err);

#endif
