/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_HELD_H
#define HB_TXN_HELD_H

#include <stdbool.h>

struct apply;
struct hb_error;
struct op;
struct site;

/*
 * Databases that a program outside has open (changes/database.h).  A commit
 * looks before it plans; a program may open one right after that look.
 */

/*
 * Before an operation is planned that takes the database, or a side file of
 * it, out of the base.  -HB_E_CONFLICT with the path and the process.
 */
int held_check_base(struct site *s, const struct op *op, struct hb_error *err);

/*
 * Everything was moved: looks at the databases that left the base, where they
 * are now, and at those of which a side file was exchanged.  -HB_E_CONFLICT:
 * everything has to be taken back.  Changes nothing.
 */
int held_check(struct apply *a, bool back, struct hb_error *err);

#endif
