/* SPDX-License-Identifier: Apache-2.0 */
#include "session/strategy/matrix.h"

#include "base/error.h"
#include "base/quote.h"
#include "holdback/strategies.h"
#include "strategy/strategy.h"

#include <stdio.h>
#include <string.h>

#define LIST_SIZE 160

/* The row behind it, if it may fall back. */
static const char *fallback_of(enum resource_type type, const char *name)
{
	const struct strategy *strategy =
		strategy_over_find(name) ? NULL : strategy_find(type, name);
	const struct strategy *next;

	if (!strategy || (strategy->flags & STRATEGY_ASKED))
		return NULL;
	next = strategy_next(strategy, type, 0);
	return next ? next->named->name : NULL;
}

bool hb_strategy_cell(size_t number, struct hb_strategy_cell *ret_cell)
{
	for (size_t i = 0; i < (size_t)RESOURCE_N_TYPES * STRATEGY_N_NAMES;
	     i++) {
		enum resource_type type =
			(enum resource_type)(i / STRATEGY_N_NAMES);
		const struct strategy_named *named =
			&strategy_names[i % STRATEGY_N_NAMES];
		const struct strategy *first = strategy_find(type, "");

		if (!strategy_allows(type, named->name) || number-- > 0)
			continue;
		*ret_cell = (struct hb_strategy_cell){
			.type = resource_type_name(type),
			.option = resource_type_option(type),
			.strategy = named->name,
			.words = named->words,
			.is_default = first && first->named == named,
			.fallback = fallback_of(type, named->name),
		};
		return true;
	}
	return false;
}

/* "a, b or c" */
static void list_allowed(enum resource_type type, char ret[LIST_SIZE])
{
	const char *allowed[STRATEGY_N_NAMES] = { NULL };
	size_t n = 0, len = 0;

	for (size_t i = 0; i < STRATEGY_N_NAMES; i++)
		if (strategy_allows(type, strategy_names[i].name))
			allowed[n++] = strategy_names[i].name;
	ret[0] = '\0';
	for (size_t i = 0; i < n && len < LIST_SIZE; i++) {
		const char *before = i == 0 ? "" : i + 1 == n ? " or " : ", ";

		len += (size_t)snprintf(ret + len, LIST_SIZE - len, "%s%s",
					before, allowed[i]);
	}
}

int matrix_check(enum resource_type type, const char *source, const char *name,
		 struct hb_error *err)
{
	char list[LIST_SIZE], shown[QUOTE_SHOWN];

	if (strategy_allows(type, name))
		return 0;
	list_allowed(type, list);
	hb_fix(err, "--strategy %s", list);
	if (!strategy_is_name(name))
		return hb_fail(err, -HB_E_USAGE, "there is no strategy '%.80s'",
			       name);
	return hb_fail(err, -HB_E_USAGE,
		       "'%s' is of type %s, and %s cannot hold that back",
		       quote_shown(source, shown, sizeof(shown)),
		       resource_type_name(type), name);
}
