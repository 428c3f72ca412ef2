/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_ALLOWED_H
#define HB_REVIEW_ALLOWED_H

#include "base/buf.h"
#include "txn/txn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The findings that the user let pass the gate, in the file `allowed` of the
 * session.  For each commit it has its number, its time, the words it was
 * allowed by, and their subject.  It is on disk before anything of the commit
 * is.
 */
struct allowed {
	const struct hb_session *session;
	const char *const *words; /* of --allow */
	size_t n_words;
	bool without_gate; /* it was not asked */
	struct buf findings;
	uint64_t n; /* how many there were */

	/* Private: what else is to be done at that moment. */
	txn_publishing_fn publishing;
	void *publishing_ctx;
};

/* Accepts zero. */
void allowed_done(struct allowed *allowed);

/* One finding that is let pass.  Where there are too many it is only counted.
 */
void allowed_note(struct allowed *allowed, const char *rule, const char *path);

/*
 * Has the transaction write it down before it counts, and then do what else
 * was to be done.  `allowed` lives as long as the transaction.
 */
void allowed_attach(struct allowed *allowed, struct txn *txn);

#endif
