/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/items.h"

#include "base/auto.h"
#include "base/glob.h"
#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void items_done(struct items *items)
{
	for (size_t i = 0; i < items->n; i++)
		free(items->items[i].name);
	free(items->items);
	items->items = NULL;
	items->n = 0;
}

static bool matches_any(const struct gate_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (glob_match(list->words[i], name, GLOB_FOLD))
			return true;
	return false;
}

static struct item *find(const struct items *items, const char *name)
{
	for (size_t i = 0; i < items->n; i++)
		if (strcmp(items->items[i].name, name) == 0)
			return &items->items[i];
	return NULL;
}

static int new_item(struct items *items, char **name, struct item **ret)
{
	if (items->n == ITEMS_MAX)
		return -E2BIG;
	if (grow(items->items, items->n) < 0)
		return -ENOMEM;
	*ret = &items->items[items->n++];
	**ret = (struct item){ .name = take_ptr(name) };
	return 0;
}

/* Patterns know slashes, and names and values have no components. */
static char *copy_flat(const char *text, size_t n)
{
	char *copy = strndup(text, n);

	for (size_t i = 0; copy && copy[i]; i++)
		if (copy[i] == '/')
			copy[i] = '\001';
	return copy;
}

static void show_slashes(char *name)
{
	for (; (name = strchr(name, '\001')); name++)
		*name = '/';
}

/* 1: the rule asks for such a value, 0: not, or -ENOMEM. */
static int wants_value(const struct items *items, const char *value, size_t n)
{
	auto_free char *copy = NULL;

	if (items->rule->values.n == 0)
		return 1;
	copy = copy_flat(value, n);
	return copy ? matches_any(&items->rule->values, copy) : -ENOMEM;
}

int items_add_meant(struct items *items, const char *name, size_t n_name,
		    const char *value, size_t n_value, const char *meant,
		    size_t n_meant, uint64_t line)
{
	auto_free char *copy = NULL;
	struct item *item;
	struct sha256 h;
	int r;

	items->work += n_name;
	if (items->work > ITEMS_WORK_MAX)
		return -E2BIG;
	copy = copy_flat(name, n_name);
	if (!copy)
		return -ENOMEM;
	if (!matches_any(&items->rule->keys, copy) ||
	    matches_any(&items->rule->except_keys, copy))
		return 0;
	/* Whom it is compared with, and the value. */
	items->work += items->n + n_value + n_meant;
	if (items->work > ITEMS_WORK_MAX)
		return -E2BIG;
	r = wants_value(items, meant, n_meant);
	if (r <= 0)
		return r;
	show_slashes(copy);
	item = find(items, copy);
	r = item ? 0 : new_item(items, &copy, &item);
	if (r < 0)
		return r;
	item->line = line;
	sha256_init(&h);
	sha256_add(&h, item->values, sizeof(item->values));
	sha256_add(&h, value, n_value);
	sha256_end(&h, item->values);
	return 0;
}

int items_add(struct items *items, const char *name, size_t n_name,
	      const char *value, size_t n_value, uint64_t line)
{
	return items_add_meant(items, name, n_name, value, n_value, value,
			       n_value, line);
}

size_t items_skip_mark(const char *text, size_t n)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t len = sizeof(mark) - 1;

	return n >= len && memcmp(text, mark, len) == 0 ? len : 0;
}

unsigned items_news(const struct items *old, const struct item *item)
{
	const struct item *other = find(old, item->name);

	if (!other)
		return GATE_ON_ADDED;
	return memcmp(other->values, item->values, sizeof(item->values)) == 0
		       ? 0
		       : GATE_ON_MODIFIED;
}

bool items_know(const struct items *items, const char *name)
{
	return find(items, name) != NULL;
}
