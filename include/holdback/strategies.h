/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_STRATEGIES_H
#define HOLDBACK_STRATEGIES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Which strategy can hold back which type of resource: one cell for each pair
 * that works.  A pair that is not told is refused.  Strings are constant.
 */
struct hb_strategy_cell {
	const char *type;     /* of the resource, such as "fs-directory" */
	const char *option;   /* that names such a resource */
	const char *strategy; /* for --strategy and the key of that name */
	const char *words;    /* what it does */
	bool is_default;      /* without --strategy */
	const char *fallback; /* where it cannot be had; NULL: refused */
};

/* The cell of that number, by type; false: there are no more. */
bool hb_strategy_cell(size_t number, struct hb_strategy_cell *ret_cell);

#endif
