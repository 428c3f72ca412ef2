/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_STEP_H
#define HB_TXN_STEP_H

#include "txn/op.h"
#include "txn/site.h"

#include <stdbool.h>
#include <stddef.h>

struct step {
	struct site *site;
	bool is_plain; /* no flags of renameat2 here; set when that is found */
	bool is_recovery; /* after a crash: what changed since is not ours */
	bool is_dressed;  /* some object's attributes were changed */
	/* In a recovery: after its end a program put its own object there. */
	bool is_left;
};

/*
 * Brings one operation to its end, or with `back` to its beginning, from
 * wherever it stands.  Doing it twice is doing it once.
 *
 * -HB_E_CONFLICT: the base is not what the plan says, and of this operation
 * nothing is in effect in the direction it was going.
 * -HB_E_STATE: the objects lie as no order of our steps leaves them; nothing
 * was touched.
 */
int step_run(struct step *s, const struct op *op, bool back,
	     struct hb_error *err);

/*
 * After step_run() could not go on: the object in the base stays.  The object
 * before it is in the undo slot if it is anywhere.  Going back, the layer has
 * again the objects that it can have.  `ret_left` says which; can be repeated.
 */
struct step_left {
	bool has_old; /* undo/ID/SLOT of the spot has what was there before */
	bool has_new; /* the session's version is in the upper */
};
int step_leave(struct step *s, const struct op *op, bool back,
	       struct step_left *ret_left, struct hb_error *err);

/*
 * Whether it could run, without changing anything; for the plan of an undo.
 * Same codes, -HB_E_CONFLICT also where the other end is taken.  1: it is at
 * its end already, because an earlier attempt had to leave it there.
 */
int step_check(struct step *s, const struct op *op, bool back,
	       struct hb_error *err);

/* How many rows the table of steps has, for a test that visits all. */
size_t step_rows(void);

#endif
