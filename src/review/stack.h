/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_STACK_H
#define HB_REVIEW_STACK_H

#include "session/session.h"

/*
 * What transactions do to the stack of layers.
 *
 *	commit		all layers count until it is in effect; what it leaves
 *			out is a layer that counts from then on
 *	rollback	the layers after the mark count until it is in effect
 *	undo, redo	nothing: what is in effect says which layers count
 *
 * The record says so before the journal is durable, and a transaction that
 * never comes into effect changes nothing by that.
 */
struct stack_change {
	struct hb_session *session;
	bool is_rollback;
	const char *keep; /* rollback: id of the last layer that stays, NULL */
	char last[RECORD_ID_SIZE]; /* a place for it */
	char rest[RECORD_ID_SIZE]; /* commit: a layer for what is left out */
	bool has_rest_layer;
	/* Of that layer; of a rollback to a copy: those of the copy. */
	int rest_dirs[RECORD_RESOURCES_MAX];
};

/*
 * Prepares a transaction of the session's, which calls stack_publish().  With
 * `is_partial` there is a place for what a commit leaves out.  Takes the
 * family's lock if it needs to; stack_end() gives it back and removes what was
 * not used.
 */
int stack_begin(struct stack_change *change, struct hb_session *s,
		struct txn *txn, bool is_partial, struct hb_error *err);
void stack_end(struct stack_change *change);

/*
 * -HB_E_STATE if layers that count were made after the last transaction and
 * cannot lie over what its undo would bring back.
 */
int stack_check_undo(struct hb_session *s, struct hb_error *err);

#endif
