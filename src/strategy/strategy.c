/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/strategy.h"

#include <assert.h>
#include <string.h>

#define NAME_ROW(id, name_, article_, noun_, words_)    \
	[STRATEGY_NAME_##id] = { .name = (name_),       \
				 .article = (article_), \
				 .noun = (noun_),       \
				 .words = (words_) },
const struct strategy_named strategy_names[STRATEGY_N_NAMES] = { STRATEGY_NAMES(
	NAME_ROW) };

#define NAME_FITS(id, name_, ...)                            \
	static_assert(sizeof(name_) <= RECORD_STRATEGY_SIZE, \
		      "a record has room for the name");
STRATEGY_NAMES(NAME_FITS)

#define STRATEGY_ROW(prefix, id, types_, flags_, part_) \
	{ .named = &strategy_names[STRATEGY_NAME_##id], \
	  .types = (types_),                            \
	  .flags = (flags_),                            \
	  .part = &(part_),                             \
	  .possible = prefix##_possible,                \
	  .adopt = prefix##_adopt,                      \
	  .show = prefix##_show,                        \
	  .is_quick = prefix##_is_quick,                \
	  .before_box = prefix##_before_box,            \
	  .begin_box = prefix##_begin_box,              \
	  .after_box = prefix##_after_box,              \
	  .cleanup = prefix##_cleanup },
static const struct strategy strategies[] = { STRATEGIES(STRATEGY_ROW) };

#define N_STRATEGIES (sizeof(strategies) / sizeof(strategies[0]))

#define OVER_ROW(id, types_) \
	{ .named = &strategy_names[STRATEGY_NAME_##id], .types = (types_) },
static const struct strategy_over overs[] = { STRATEGIES_OVER(OVER_ROW) };

#define N_OVERS (sizeof(overs) / sizeof(overs[0]))

const struct strategy_over *strategy_over_find(const char *name)
{
	for (size_t i = 0; i < N_OVERS; i++)
		if (strcmp(overs[i].named->name, name) == 0)
			return &overs[i];
	return NULL;
}

const struct strategy *strategy_find(enum resource_type type, const char *name)
{
	if (name[0] == '\0')
		return strategy_next(NULL, type, 0);
	for (size_t i = 0; i < N_STRATEGIES; i++)
		if ((strategies[i].types & STRATEGY_OF(type)) &&
		    strcmp(strategies[i].named->name, name) == 0)
			return &strategies[i];
	return NULL;
}

const struct strategy *strategy_of(const struct record_resource *record)
{
	return strategy_find(record->type, record->effective);
}

const struct strategy *strategy_next(const struct strategy *from,
				     enum resource_type type, unsigned flags)
{
	for (size_t i = from ? (size_t)(from - strategies) + 1 : 0;
	     i < N_STRATEGIES; i++)
		if ((strategies[i].types & STRATEGY_OF(type)) &&
		    (strategies[i].flags & flags) == flags &&
		    !(strategies[i].flags & STRATEGY_ASKED))
			return &strategies[i];
	return NULL;
}

bool strategy_is_name(const char *name)
{
	for (size_t i = 0; i < STRATEGY_N_NAMES; i++)
		if (strcmp(strategy_names[i].name, name) == 0)
			return true;
	return false;
}

bool strategy_allows(enum resource_type type, const char *name)
{
	const struct strategy_over *over = strategy_over_find(name);

	if (over)
		return over->types & STRATEGY_OF(type);
	return name[0] != '\0' && strategy_find(type, name);
}
