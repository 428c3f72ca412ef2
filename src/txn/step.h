/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_STEP_H
#define HB_TXN_STEP_H

#include "txn/op.h"
#include "txn/site.h"

#include <stdbool.h>

struct hb_error;

struct step {
	struct site *site;
	bool is_plain; /* no flags of renameat2 here; set when that is found */
	bool is_recovery; /* after a crash: what changed since is not ours */
	bool is_dressed;  /* some object's attributes were changed */
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
 * Whether it could run, without changing anything; for the plan of an undo.
 * Same codes, -HB_E_CONFLICT also where the other end is taken.
 */
int step_check(struct step *s, const struct op *op, bool back,
	       struct hb_error *err);

#endif
