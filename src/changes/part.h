/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_PART_H
#define HB_CHANGES_PART_H

#include <stdbool.h>
#include <stdint.h>

struct changes;
struct changes_choice;
struct changes_request;
struct hb_error;
struct resource;

/*
 * The part of a resource in a change set and in a transaction.  A strategy
 * fills it, and txn calls it: so neither sees the other.
 *
 * A directory with layers has part_layers.  Its changes() is the walk.  The
 * operations of the journal do the rest, so the other functions are NULL.
 *
 * Any other resource has all functions.  The journal decides: before it is
 * durable nothing has happened.  After it each function is called until it
 * succeeds, again after a crash.  So each can be repeated.  It returns 0 if its
 * work is done already, or if it does not know `id`.
 */
struct part {
	/* The pending changes as lines: changes_scan(), or
	 * change_lines.h. */
	int (*changes)(const struct changes_request *request,
		       struct changes **ret_changes, struct hb_error *err);
	/*
	 * Before the journal: sets aside what the choice takes, so that
	 * commit() need not fail.  What it keeps for that lies in txn/ID of
	 * the resource's directory, which goes with a plan that was cut short.
	 */
	int (*prepare)(const struct resource *resource, uint64_t id,
		       struct changes *changes,
		       const struct changes_choice *choice,
		       struct hb_error *err);
	/* Makes what was set aside real; keeps what undo() needs in undo/ID. */
	int (*commit)(const struct resource *resource, uint64_t id,
		      struct hb_error *err);
	/* Discards all that is pending; keeps the same. */
	int (*rollback)(const struct resource *resource, uint64_t id,
			struct hb_error *err);
	/* Takes commit() or rollback() back, and does it again. */
	int (*undo)(const struct resource *resource, uint64_t id,
		    struct hb_error *err);
	int (*redo)(const struct resource *resource, uint64_t id,
		    struct hb_error *err);
};

/* The functions of one prefix: a part that lacks one does not compile. */
#define PART_OF(prefix)                                                   \
	{                                                                 \
		.changes = prefix##_changes, .prepare = prefix##_prepare, \
		.commit = prefix##_commit, .rollback = prefix##_rollback, \
		.undo = prefix##_undo, .redo = prefix##_redo,             \
	}

extern const struct part part_layers;

/* The part of a resource, part_layers where it names none. */
const struct part *part_of(const struct resource *resource);

/* Whether the operations of a journal are about it. */
bool part_is_layers(const struct resource *resource);

#endif
