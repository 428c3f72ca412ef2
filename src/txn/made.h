/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_MADE_H
#define HB_TXN_MADE_H

#include <stdbool.h>

struct change;
struct hb_error;
struct op;
struct way;

/* Whether the base gets something that no layer has: DELIVERED_MADE. */
bool made_is(const struct change *c);

/*
 * Writes what is made to txn/ID/SLOT, with its final attributes, and makes that
 * the operation's source.
 */
int made_stage(struct way *w, const struct change *c, struct op *op,
	       struct hb_error *err);

#endif
