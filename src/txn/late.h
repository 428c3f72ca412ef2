/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_LATE_H
#define HB_TXN_LATE_H

#include "txn/history.h"

#include <stdint.h>
#include <time.h>

/*
 * Edits that came too late to be planned for, inside a directory that is
 * replaced or deleted as a whole.  Of anything else the entry itself is
 * compared before and after it moves; of such a directory that says nothing
 * about what is in it.
 */

/*
 * The `since` of a journal: what changes in any resource from now on has a
 * ctime that is not before it.  Zero if that is not known of all of them.
 */
struct timespec late_since(const struct txn *txn);

/*
 * Everything was moved forward: looks at the entries of such directories, which
 * are in undo/ID now.  -HB_E_CONFLICT with the path: another program has
 * changed it since, and everything has to be taken back.  Changes nothing.
 */
int late_check(struct apply *a, struct hb_error *err);

/*
 * Of a transaction that was filed: 1 if an object from the base is not as it
 * was when its removal was planned.  A program had it open and wrote to it
 * then.  0 if not.  Below 0: that cannot be told.  Changes nothing.
 */
int late_was_written(struct txn *txn, enum history which, uint64_t id,
		     struct hb_error *err);

#endif
