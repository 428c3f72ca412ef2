/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_TXN_H
#define HB_TXN_TXN_H

#include "base/error.h"
#include "changes/changes.h"
#include "changes/filter.h"
#include "changes/resource.h"
#include "txn/databases.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delivered;
struct hb_listener;
struct hb_error;

/*
 * Commit, undo, redo, rollback and recovery of one session: journaled, all or
 * nothing over all its resources, killable at any instruction.
 *
 * The caller holds the session's lock and knows that no box is mounted.  All
 * descriptors are borrowed.
 */

/*
 * One path that was committed, for the session's `seen` and the log; also each
 * one inside a directory that arrived whole.  Called when everything is in
 * place and before the transaction counts as done.  So a crash in between makes
 * txn_recover() call it again for all of them: remember, do not count.
 *
 * The last call has seen == NULL.  All that was told has to be durable when it
 * returns, for it is not told again after that.
 *
 * After an undo it tells the state to which the base is back.  layer_ino is 0
 * because the layer's objects are pending; base_ino 0: nothing is there.
 */
typedef int (*txn_applied_fn)(void *ctx, size_t resource,
			      const struct seen *seen, struct hb_error *err);

/*
 * The journal becomes durable next, and applied() will then be told of about
 * this many paths of the resource.  All that it needs for that is made ready
 * here.  Later a failure takes everything back, which is told as well.
 */
typedef int (*txn_applying_fn)(void *ctx, size_t resource, uint64_t n_paths,
			       struct hb_error *err);

/*
 * Everything is planned and checked, and the journal `id` becomes durable as
 * soon as this returns 0.  The callee writes down what has to hold for a
 * session with that transaction in effect, and for a session without.
 * `has_rest`: something was left out.
 */
typedef int (*txn_publishing_fn)(void *ctx, uint64_t id, bool has_rest,
				 struct hb_error *err);

struct txn {
	int session; /* the session's directory: journal lies here */
	struct resource *resources;
	size_t n_resources;
	/*
	 * May be NULL.  Hears HB_REPORT_CHANGED, and HB_REPORT_LEFT of an entry
	 * that fits neither side, because another program changed it while a
	 * transaction was under way or interrupted.  It stays as that program
	 * left it; everything else is brought to one side.  Told as it is met,
	 * so a crash repeats it.  Its text is where the version before lies in
	 * the spot, or NULL.
	 */
	const struct hb_listener *listener;
	seen_fn seen; /* by resource: ctx is seen_ctx[i] */
	void **seen_ctx;
	/*
	 * For undo, redo and recovery, which apply as well; NULL: the caller
	 * does not ask.  txn_commit() has its own.
	 */
	txn_applied_fn applied;
	void *applied_ctx;
	txn_applying_fn applying; /* with applied_ctx; may be NULL */
	int lock_wait; /* ms that a base which another has locked is waited for
			*/
	/*
	 * Set: the last call succeeded and everything is in place and durable,
	 * but the journal could not be filed.  `unfinished` says why.
	 * txn_recover() files it and does nothing else.
	 */
	bool is_unfinished;
	struct hb_error unfinished;
	uint64_t n_left;	      /* set: how many the last call has left */
	txn_publishing_fn publishing; /* of commit and rollback; may be NULL */
	void *publishing_ctx;
	bool is_live; /* the layers are copies, and the box may have newer */
	/* How databases are written; NULL: they cannot be. */
	const struct txn_databases *databases;
	struct databases_open open_databases; /* private */
};

/*
 * Looks at the change set of one resource after conflicts were ruled out and
 * before anything is planned.  0: it may pass; 1: it may not, and the other
 * resources are looked at all the same.  The commit takes exactly the objects
 * that it saw: an object that changes after the scan stops the commit.
 */
struct txn_options;
typedef int (*txn_gate_fn)(void *ctx, size_t resource, struct changes *changes,
			   const struct txn_options *options,
			   struct hb_error *err);

/*
 * Decides by value about files that are not copied, as those of a repository:
 * delivered.h.  Called after the scan of all resources, and by a dry run as
 * well.  Change sets may be read, and are rewound.  Items that it adds to the
 * resource's list take the place of changes.
 */
typedef int (*txn_deliver_fn)(void *ctx, struct changes *const *changes,
			      const struct changes_choice *choice,
			      struct delivered *lists, struct hb_error *err);

/*
 * A look at what the same options are about: change sets with their hash, which
 * the user has seen.  Where each object is still the one of then, by its change
 * time, nothing is hashed again and `gate` is asked instead of the options'.
 */
struct txn_review {
	struct changes *const *changes; /* by resource; read again */
	const uint8_t *hash;		/* of all of them, as `expect` below */
	txn_gate_fn gate; /* says what it said then; NULL: the options' is */
};

struct txn_options {
	struct changes_choice choice;
	/*
	 * The hash that the change set must have, or NULL: result.summary.hash
	 * of a dry run.  Of one resource it is the change set's own; of several
	 * it is the SHA-256 of theirs, one after the other.
	 */
	const uint8_t *expect;
	const struct txn_review *review; /* NULL: no look was made before */
	bool dry_run;
	/*
	 * NULL: no gate looks, and fifos, setuid, setgid and file capabilities
	 * are refused without the two below.  Else all of that is the gate's.
	 */
	txn_gate_fn gate;
	void *gate_ctx;
	txn_deliver_fn deliver; /* NULL: everything is a file */
	void *deliver_ctx;
	bool with_special; /* fifos */
	bool with_setid;   /* setuid, setgid and file capabilities */
	bool with_ignored; /* what git ignores, which stays behind otherwise */
};

struct txn_result {
	uint64_t id; /* of the commit; undo names it */
	uint64_t n_operations;
	uint64_t n_kept; /* undo: objects of git that stay in the base */
	bool has_rest;	 /* something of the layers was not committed */
	struct changes_summary summary;
	uint64_t undo_bytes;
};

/*
 * -HB_E_DENIED: something has to be asked for, change_asks(), or the gate does
 * not let it pass; nothing changed.
 * -HB_E_CONFLICT: `conflicts` of the summary is not 0; nothing changed.
 * -HB_E_STATE with `n_left` not 0: another program changed an entry that was in
 * place already and an entry that was not.  The latter stopped it, all but
 * `n_left` entries are as they were, and nothing is left to recover.  The same
 * holds for undo and redo.
 * Any other failure before the commit point leaves base and session as they
 * were; after it, txn_recover() finishes or reverses.
 */
int txn_commit(struct txn *txn, const struct txn_options *options,
	       txn_applied_fn applied, void *applied_ctx,
	       struct txn_result *ret_result, struct hb_error *err);

int txn_undo(struct txn *txn, struct txn_result *ret_result,
	     struct hb_error *err);
int txn_redo(struct txn *txn, struct txn_result *ret_result,
	     struct hb_error *err);

/*
 * The upper goes to trash/ and an empty one takes its place: O(1).  It is a
 * transaction like the others, and undo brings the upper back as long as
 * nothing was written to the new one.  Afterwards layers[0] is the old one:
 * open it again.  The same holds after txn_undo(), txn_redo(), txn_recover().
 */
int txn_rollback(struct txn *txn, struct hb_error *err);

struct txn_path {
	size_t resource;
	const char *path; /* relative to the resource, without "." and ".." */
};

/*
 * The same for the upper's objects at some paths, all or none of them; undo
 * brings them back.  Sorts `paths`; a path that lies below another goes with
 * it.  -ENOENT: the upper has nothing at `*ret_missing`, which may be NULL.
 */
int txn_rollback_paths(struct txn *txn, struct txn_path *paths, size_t n,
		       const struct txn_path **ret_missing,
		       struct hb_error *err);

enum txn_recovered {
	RECOVERED_NOTHING,
	RECOVERED_FORWARD,
	RECOVERED_BACK,
};

/*
 * The first thing for every session: finishes, or with `back` reverses, what a
 * crash interrupted.  Where another program changed an entry that was still to
 * come, it cannot be finished and is reversed.  -HB_E_STATE with `n_left` not
 * 0: it is done but for these entries, of which both copies are kept.
 */
int txn_recover(struct txn *txn, bool back, enum txn_recovered *ret_what,
		struct hb_error *err);

#endif
