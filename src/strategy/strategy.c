/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/strategy.h"

#include "strategy/copy.h"

#include <string.h>

static const struct strategy strategies[] = {
	{ .name = STRATEGY_OVERLAY },
	{ .name = STRATEGY_COPY,
	  .shown = COPY_DIR,
	  .before_box = copy_refresh,
	  .after_box = copy_distill,
	  .drop = copy_drop },
};

#define N_STRATEGIES (sizeof(strategies) / sizeof(strategies[0]))

const struct strategy *strategy_find(const char *name)
{
	for (size_t i = 0; i < N_STRATEGIES; i++)
		if (strcmp(strategies[i].name, name) == 0)
			return &strategies[i];
	return NULL;
}
