/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_STRATEGY_MATRIX_H
#define HB_SESSION_STRATEGY_MATRIX_H

#include "changes/resource_type.h"

struct hb_error;

/*
 * The table of types and strategies, as the tables of strategy/strategy.h have
 * it: hb_strategy_cell(), and the words of a refusal.
 */

/*
 * -HB_E_USAGE if the strategy of that name cannot hold back `source`, which is
 * of the type.  The fix lists the strategies that can.
 */
int matrix_check(enum resource_type type, const char *source, const char *name,
		 struct hb_error *err);

#endif
