/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_PARTS_H
#define HB_TXN_PARTS_H

#include <stdbool.h>

struct apply;
struct hb_error;
struct resource;
struct txn;

/* Resources that are no directories, in a transaction: changes/part.h. */

/* Whether there is one. */
bool parts_are_there(const struct txn *txn);

/*
 * The directory to lock; -EACCES: there is none, as for a directory that may
 * not be read.  A resource that is no directory keeps its transactions apart
 * itself.
 */
int parts_open_base(const struct resource *resource);

/*
 * Does what the journal is about in each of them or, with `taken_back`, the
 * opposite.  The journal is durable, and the operations have been run.
 */
int parts_run(const struct apply *a, bool taken_back, struct hb_error *err);

#endif
