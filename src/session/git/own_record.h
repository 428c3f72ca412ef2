/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_OWN_RECORD_H
#define HB_SESSION_GIT_OWN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct begun;
struct hb_error;
struct hb_session;
struct record_resource;
struct resource;
struct session_record;

/*
 * The records of a beginning on a branch (own_branch.h), in the resource's
 * store:
 *
 *	begun-N		how it began after transaction N; of all N in effect the
 *			highest counts
 *	beginning	it is under way, or was cut short: paths that were
 *			pending before.  All else in the layers may be half of
 *			a beginning.
 */

/* Whether it was asked for. */
bool own_branch_is_asked(const struct record_resource *resource);
bool own_branch_is_any(const struct session_record *record);

/* After the transaction of that number; durable. */
int own_branch_store(int dir, uint64_t after, const struct begun *begun,
		     struct hb_error *err);
int own_branch_drop(int dir, uint64_t after, struct hb_error *err);

/*
 * The record that counts, and its number.  -ENOENT: there is none; -HB_E_STATE:
 * it is damaged.
 */
int own_branch_load(const struct hb_session *s, size_t number,
		    struct begun *ret, uint64_t *ret_after,
		    struct hb_error *err);

/*
 * Whether the layers, which are open, have HEAD or the branch of the beginning.
 * A commit, or a rollback of all, leaves neither, and ends it.
 */
bool own_branch_is_in(const struct resource *resource,
		      const struct begun *begun);

/* The record that counts after an undo of that transaction; likewise. */
int own_branch_load_before(const struct hb_session *s, size_t number,
			   uint64_t undone, struct begun *ret,
			   struct hb_error *err);

/*
 * When a transaction is going to be forgotten, or was undone: its record is
 * that of the time before all transactions, or goes.
 */
int own_branch_settle(int dir, uint64_t id, bool is_in_effect);

/* The mark of a beginning under way; durable.  -ENOENT: there is none. */
int own_mark_store(int dir, const struct begun *before, struct hb_error *err);
int own_mark_load(int dir, struct begun *ret, struct hb_error *err);
int own_mark_drop(int dir, struct hb_error *err);
bool own_mark_is_there(int dir);

#endif
