/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_PARENTS_H
#define HB_TXN_PARENTS_H

#include "base/buf.h"
#include "txn/op.h"
#include "txn/site.h"

/*
 * Directories of the upper that alike.h has removed and an undo or redo needs
 * again.  They are made as they are in the base, from which they differed in
 * nothing.  So the view is the same before and after.  Where the base has none,
 * none is made.
 *
 * They are made in `parents.new` of the store and moved to their places when
 * all are there.  A list of alike.h has the times of the directories that they
 * are moved into.  Killed anywhere, alike_note() or alike_drop() makes up for
 * it.
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

/* Once for each resource, before all others and after them. */
int parents_begin(struct site *s, struct hb_error *err);
int parents_end(struct site *s, struct hb_error *err);

/* For all operations of a journal, in its order. */
int parents_need(struct parents *p, struct site *s, const struct op *op,
		 struct hb_error *err);

#endif
