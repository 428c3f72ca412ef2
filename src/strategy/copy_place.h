/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_COPY_PLACE_H
#define HB_STRATEGY_COPY_PLACE_H

#include "strategy/baseline.h"
#include "tree/entry.h"

#include <stddef.h>
#include <stdint.h>

struct trail;

/* What copying there and back have in common. */

/* The copy in `dir`, for reading. */
int place_open_copy(int dir, struct hb_error *err);

/* The depth of a path in a baseline, and the length of what is above it. */
uint32_t place_depth(const char *path);
size_t place_parent(const char *path, const char *name);

/*
 * Whether the next record comes before what lies at `depth` and has this name:
 * then it is not there any more.
 */
bool place_is_before(const struct baseline_reader *old, uint32_t depth,
		     const char *name);

/* Takes the record of exactly this one.  1, 0: there is none. */
int place_take_record(struct baseline_reader *old, uint32_t depth,
		      const char *name, struct baseline_record *ret,
		      struct hb_error *err);

bool place_is_time(struct timespec a, struct timespec b);

/* Fills what is in the copy of a record. */
void place_fill(struct baseline_record *record, uint32_t depth,
		const char *name, const struct entry *in_copy);

/* Nothing is at `name` in the last directory of the trail after this. */
int place_clear(struct trail *trail, const char *name, struct hb_error *err);

/*
 * Gives the root of a copy or of a layer the owner and the extended attributes
 * that the root of the other has.  The mode may be wider afterwards: the walk
 * there sets it, as of any directory.
 */
int place_carry_top(int from, int to, bool to_layer, struct hb_error *err);

#endif
