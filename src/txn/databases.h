/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_DATABASES_H
#define HB_TXN_DATABASES_H

#include "changes/conflict.h"
#include "txn/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct apply;
struct change;
struct hb_error;
struct resource;
struct site;
struct txn;

/*
 * OP_DATABASE: a database of the base gets other pages, by SQLite's own
 * transaction, while programs outside go on using it.  The object in the base
 * stays the same one.
 *
 * txn/ID/SLOT is the database of the session, one clean file.  txn/ID/SLOT.old
 * is the database of the base as it was.  Both stay as long as the journal has
 * a record, for undo and redo.  Which of the two the base has is told by its
 * content, at any time: after a kill SQLite has the one or the other.
 *
 * Order: all databases are locked for writing and have all pages but the last.
 * Then the files move.  Then each database gets its last page.
 */

/* A database that is locked, and has not got its last page yet. */
struct database_writer;

/* How it is done: src/session/database.  Failures leave nothing behind. */
struct txn_databases {
	/* Makes `name` in `dir`, from what the layers have at the path. */
	int (*clean)(const struct resource *resource, const char *path, int dir,
		     const char *name, struct hb_error *err);
	/*
	 * Makes `name` in `dir` a picture of the database `main` in `base`.
	 * -ENOENT: there is none; -HB_E_BUSY: it is being written to.
	 * `is_locked`: a writer of ours has it.
	 */
	int (*picture)(int base, const char *main, bool is_locked, int dir,
		       const char *name, struct hb_error *err);
	/* -HB_E_BUSY: another program has it locked, and had it for 5 s. */
	int (*begin)(int base, const char *main, int dir, const char *from,
		     struct database_writer **ret, struct hb_error *err);
	int (*pages)(struct database_writer *w, struct hb_error *err);
	/* The last page.  Takes the writer, also on failure. */
	int (*end)(struct database_writer *w, struct hb_error *err);
	/* Takes all of it back; NULL: nothing. */
	void (*drop)(struct database_writer *w);
};

/* The writers of one transaction. */
struct databases_open {
	struct databases_writer {
		uint32_t resource;
		uint64_t slot;
		struct database_writer *writer;
	} * writers;
	size_t n;
};

/* Takes all back that has no last page yet. */
void databases_drop(struct txn *txn);

/*
 * Before the journal: makes both files, locks the database and writes all pages
 * but the last.  Fills in the objects of `op`, which has path and slot.
 * -HB_E_CONFLICT: the database has changed since the session began, by `rule`,
 * and that was not accepted; -HB_E_BUSY; -HB_E_STATE: the session's database
 * cannot take the place of the base's.
 */
int databases_plan(struct txn *txn, struct site *site,
		   const struct conflict_rule *rule, struct op *op,
		   struct hb_error *err);

/*
 * Before an undo or a redo: whether the base has what it is to lose.
 * -HB_E_CONFLICT: it has something else.
 */
int databases_check(struct apply *a, const struct op *op, bool back,
		    struct hb_error *err);

/* Locks those of the journal that have still to change, up to the last page. */
int databases_hold(struct apply *a, bool back, struct hb_error *err);

/*
 * The last page of each that is locked.  With `past`: of all others as well,
 * and past one with rows that another program wrote meanwhile.  That one stays
 * as it is, is counted as left and told.
 */
int databases_end(struct apply *a, bool back, bool past, struct hb_error *err);

#endif
