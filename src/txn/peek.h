/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_PEEK_H
#define HB_TXN_PEEK_H

#include "txn/site.h"

/*
 * Looks at an object of the upper for a plan or a report, also in a directory
 * that its owner may not search.  The steps do without: an OP_DIRECTORY has
 * opened such a directory before.
 *
 * Returns the result of `fn`.  After -EACCES `fn` is called once more, with the
 * directories open for as long as that takes.
 */
typedef int (*peek_fn)(void *ctx, const struct place *at, struct hb_error *err);
int peek_upper(struct site *s, const struct op *op, peek_fn fn, void *ctx,
	       struct hb_error *err);

/* The object at the operation's path; ENTRY_NONE: there is none. */
int peek_object(struct site *s, const struct op *op, struct object *ret,
		struct hb_error *err);

#endif
