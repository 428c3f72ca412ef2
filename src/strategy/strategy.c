/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/strategy.h"

#include <assert.h>
#include <string.h>

#define STRATEGY_ROW(prefix, name_, article_, noun_, types_, flags_, part_) \
	{ .name = (name_),                                                  \
	  .article = (article_),                                            \
	  .noun = (noun_),                                                  \
	  .types = (types_),                                                \
	  .flags = (flags_),                                                \
	  .part = &(part_),                                                 \
	  .possible = prefix##_possible,                                    \
	  .adopt = prefix##_adopt,                                          \
	  .show = prefix##_show,                                            \
	  .is_quick = prefix##_is_quick,                                    \
	  .before_box = prefix##_before_box,                                \
	  .begin_box = prefix##_begin_box,                                  \
	  .after_box = prefix##_after_box,                                  \
	  .cleanup = prefix##_cleanup },
static const struct strategy strategies[] = { STRATEGIES(STRATEGY_ROW) };

#define N_STRATEGIES (sizeof(strategies) / sizeof(strategies[0]))

#define STRATEGY_FITS(prefix, name_, ...)                    \
	static_assert(sizeof(name_) <= RECORD_STRATEGY_SIZE, \
		      "a record has room for the name");
STRATEGIES(STRATEGY_FITS)

#define OVER_ROW(id_, name_) { .id = STRATEGY_OVER_##id_, .name = (name_) },
static const struct strategy_over overs[] = { STRATEGIES_OVER(OVER_ROW) };

#define OVER_FITS(id, name_)                                 \
	static_assert(sizeof(name_) <= RECORD_STRATEGY_SIZE, \
		      "a record has room for the name");
STRATEGIES_OVER(OVER_FITS)

const struct strategy_over *strategy_over_find(const char *name)
{
	for (size_t i = 0; i < sizeof(overs) / sizeof(overs[0]); i++)
		if (strcmp(overs[i].name, name) == 0)
			return &overs[i];
	return NULL;
}

const struct strategy *strategy_find(const char *name)
{
	if (name[0] == '\0')
		return &strategies[0];
	for (size_t i = 0; i < N_STRATEGIES; i++)
		if (strcmp(strategies[i].name, name) == 0)
			return &strategies[i];
	return NULL;
}

const struct strategy *strategy_next(const struct strategy *from,
				     enum resource_type type, unsigned flags)
{
	for (size_t i = from ? (size_t)(from - strategies) + 1 : 0;
	     i < N_STRATEGIES; i++)
		if ((strategies[i].types & STRATEGY_OF(type)) &&
		    (strategies[i].flags & flags) == flags)
			return &strategies[i];
	return NULL;
}
