/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_PARENTS_H
#define HB_TXN_PARENTS_H

#include "base/buf.h"
#include "txn/op.h"
#include "txn/site.h"

struct hb_error;

/*
 * Directories of the upper that alike.h has removed and an undo or redo needs
 * again: made as they are in the base, which they differed in nothing from.  So
 * the view is the same before and after, and it can be killed and repeated.
 * They are on disk when it returns.  Where the base has none, none is made.
 */
struct parents {
	struct buf away; /* a directory that an operation takes along */
	uint32_t resource;
};

#define PARENTS_NONE                                \
	{                                           \
		.away = BUF_INIT((size_t)256 << 20) \
	}
void parents_done(struct parents *p);
#define auto_parents __attribute__((cleanup(parents_done)))

/* For all operations of a journal, in its order. */
int parents_make(struct parents *p, struct site *s, const struct op *op,
		 struct hb_error *err);

#endif
