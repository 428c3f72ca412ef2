/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_CHECK_H
#define HB_TXN_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct txn;

/*
 * The state of a session's transaction, told by the names in its directories.
 * docs/transaction.md has the same rows and columns for people, and t_check
 * compares the two.
 */
enum txn_fact {
	FACT_JOURNAL_NEW = 1 << 0,   /* journal.new */
	FACT_DONE_NEW = 1 << 1,	     /* journal.done.new */
	FACT_DONE = 1 << 2,	     /* journal.done, about the journal */
	FACT_DONE_OTHER = 1 << 3,    /* journal.done, about none that is here */
	FACT_FILED_DONE = 1 << 4,    /* done/ID of the journal */
	FACT_FILED_UNDONE = 1 << 5,  /* undone/ID of the journal */
	FACT_LOOSE_COPIES = 1 << 6,  /* txn/N of no journal */
	FACT_LOOSE_OBJECTS = 1 << 7, /* undo/N or trash/N of no journal */
	FACT_PARENTS = 1 << 8,	     /* parents.new */
	/*
	 * Numbers that no order of transactions gives.  A number is in done/
	 * and in undone/, or one in done/ is above one in undone/, or a journal
	 * is not between them.  No row has it.
	 */
	FACT_DISORDER = 1 << 9,
	FACTS_END = 1 << 10 /* one past the last */
};

/* Which journal is there. */
enum txn_flight {
	FLIGHT_NONE,
	FLIGHT_COMMIT, /* or a rollback */
	FLIGHT_UNDO,
	FLIGHT_REDO,
	FLIGHT_DAMAGED, /* it cannot be read */
	FLIGHTS
};

struct txn_row {
	const char *name;
	enum txn_flight flight;
	unsigned needs, may; /* enum txn_fact; all others are absent */
};

/* All of them; a session is in the first row that fits. */
const struct txn_row *txn_rows(size_t *ret_n);

struct txn_state {
	const struct txn_row *row;
	enum txn_flight flight;
	unsigned facts; /* enum txn_fact */
	uint64_t id;	/* of the journal; 0: none, or damaged */
};

/*
 * Which row the session is in.  Of `txn` it needs the session's directory, and
 * `dir` and `spot` of the resources; the caller holds the session's lock.
 * Changes nothing.  -HB_E_STATE: the session is in no row, and the names that
 * were found are told.
 */
int txn_check(const struct txn *txn, struct txn_state *ret_state,
	      struct hb_error *err);

#endif
