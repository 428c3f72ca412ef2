/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_MOVABLE_H
#define HB_TXN_MOVABLE_H

#include "changes/changes.h"
#include "tree/syncer.h"
#include "txn/site.h"

struct movable_request {
	struct site *site;
	struct syncer *syncer; /* learns of everything that would move */
	const struct change *change;
	uint64_t *contents; /* of a directory that can be moved: contents.h */
};

/*
 * Whether the object of the upper, with everything in it, can be moved into the
 * base and back without a loss.  1, or 0 if it has to be copied.
 *
 * Not so with escaped attributes, which are renamed on the way.  Not so inside
 * of a directory with inodes of several names, whiteouts, and directories that
 * cannot be read.  These are operations of their own, or none.
 */
int movable_check(const struct movable_request *m, struct hb_error *err);

#endif
