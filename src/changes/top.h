/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_TOP_H
#define HB_CHANGES_TOP_H

#include "changes/changes.h"
#include "tree/compare.h"

/*
 * Mode, owner and extended attributes of a resource's own directory.
 *
 * The view's root takes its attributes from the topmost layer's root.  So a
 * difference to the base does not prove that the command made it.  So there is
 * a snapshot: an empty directory with the attributes that both had while no
 * change of them was pending.  Each attribute is compared with it:
 *
 *	layer as picture		nothing
 *	layer as base			nothing, any more
 *	base as picture			a change
 *	all three differ		a change, and a conflict
 *
 * A commit gives the picture what it gives the base, in the same operation, and
 * undo takes both back.
 */
struct top_change {
	unsigned what;	      /* CHANGED_MODE, CHANGED_OWNER, CHANGED_XATTRS */
	bool is_conflict;     /* another program changed the same in the base */
	struct entry old;     /* the base's */
	struct entry new;     /* the base's, with what the layer changed */
	struct xattrs xattrs; /* what it is to have */
};

/* 1: a change, 0: none.  `resource->top` is the picture. */
int top_compare(const struct resource *resource, struct top_change *ret,
		struct hb_error *err);

#endif
