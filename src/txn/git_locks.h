/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_GIT_LOCKS_H
#define HB_TXN_GIT_LOCKS_H

#include <stdbool.h>

struct apply;
struct buf;
struct changes;
struct hb_error;
struct site;
struct syncer;

/*
 * git's own locks on the files of a repository that a transaction changes:
 * PATH.lock, which no git process may write past.
 *
 * Each is a file in txn/ID before the journal is durable, and txn/ID/locks has
 * their inode numbers.  To take one is to give that file a second name in the
 * base.  So after a crash ours are told from those of git, and undo and redo of
 * the same transaction take the same ones.
 */

/* For the items of changes_deliver() with `is_locked`; none: does nothing. */
int git_locks_plan(struct site *s, struct changes *changes,
		   struct syncer *syncer, struct hb_error *err);

/*
 * apply_run() with all of them taken, those that a dead process of ours holds
 * included.  -HB_E_BUSY: git holds one, or collects garbage, and did so for a
 * second; -HB_E_CONFLICT of git_values_check(): a reference moved.  Then none
 * is held and nothing was done.  With APPLY_PAST it goes on without both: each
 * step looks before it moves.
 */
int git_locks_apply(struct apply *a, unsigned how, struct hb_error *err);

/* Gives back what we hold, and nothing else; of a zeroed struct nothing. */
int git_locks_drop(struct apply *a, struct hb_error *err);

/*
 * The list of a transaction, with the records of git_values.h; empty if there
 * is none.
 */
#define GIT_LOCKS_MAX ((size_t)64 << 20)
int git_locks_read(const struct site *s, struct buf *ret);

#endif
