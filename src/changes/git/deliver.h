/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_GIT_DELIVER_H
#define HB_CHANGES_GIT_DELIVER_H

#include "changes/git/delivered.h"

struct hb_error;
struct resource;

/*
 * Makes another change set, with the items in it and the rest of `from`, which
 * stays as it is and has to outlive it.  Takes the items, and leaves the struct
 * empty.  Directories that the base lacks for a made file are made as well.
 * -HB_E_CONFLICT: something else has the place of such a directory.
 */
int changes_deliver(struct changes *from, const struct resource *resource,
		    int spill_dir, struct delivered *delivered,
		    struct changes **ret_changes, struct hb_error *err);

/*
 * The same for a reader of the session's own changes: their items are told, and
 * what has one is in no conflict.  Takes the items.
 */
void changes_lay(struct changes *changes, struct delivered *delivered);

/* The items of a change set that changes_deliver() made; else none, n 0. */
const struct delivered *changes_delivered(const struct changes *changes);

#endif
