/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_ALIKE_BELOW_H
#define HB_CHANGES_ALIKE_BELOW_H

#include "changes/walk.h"

/* What lies below an entry of the upper, in a frozen layer or in the base. */
struct below {
	struct entry entry; /* ENTRY_NONE: nothing that is in the view */
	int dir;	    /* the directory that has it; -1: none */
	bool in_layer;
	int owned; /* what `dir` is, if it was opened for this; else -1 */
};

#define BELOW_NONE                     \
	{                              \
		.dir = -1, .owned = -1 \
	}

/*
 * `layers` are the frozen ones, the topmost first; `s` was seen in a walk over
 * the upper alone.
 */
int below_find(const int *layers, size_t n_layers, const struct sighting *s,
	       struct below *ret);
void below_done(struct below *below);
#define auto_below __attribute__((cleanup(below_done)))

#endif
