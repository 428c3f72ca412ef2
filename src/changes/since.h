/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_SINCE_H
#define HB_CHANGES_SINCE_H

#include "changes/changes.h"

/*
 * What changed between two states of a stack of layers: with all of them over
 * the base, and without those above a mark.  Two change sets over the same
 * base, read side by side in path order, so memory does not grow.
 *
 * There are no renames, conflicts and hash here: none of that is committed.
 */
struct since;

/* Where one side of a change lies. */
struct since_side {
	int root;
	bool in_layer;
};

struct since_change {
	struct change change; /* `old` is what was there at the mark */
	struct since_side old, new;
};

/* `above`: how many of the request's layers, from the top, came after. */
int since_open(const struct changes_request *request, size_t above,
	       struct since **ret_since, struct hb_error *err);
void since_free(struct since *since);

/* As of changes_summary(), in the later of the two states. */
uint64_t since_unjudged(const struct since *since);

/* As changes_rewind() and changes_next(). */
int since_rewind(struct since *since, struct hb_error *err);
int since_next(struct since *since, struct since_change *ret,
	       struct hb_error *err);

#endif
