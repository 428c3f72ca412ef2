/* SPDX-License-Identifier: Apache-2.0 */
#include "net/host_group.h"

#include "net/rule.h"
#include "net_group_table.h"

#include <errno.h>
#include <string.h>

#define ROWS (sizeof(rows) / sizeof(rows[0]))

const struct net_group_row *net_group_row_at(size_t i)
{
	return i < ROWS ? &rows[i] : NULL;
}

bool net_group_exists(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(rows[i].group, name) == 0)
			return true;
	return false;
}

bool net_group_is_open(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(rows[i].group, name) == 0 && rows[i].is_open)
			return true;
	return false;
}

/* Whether there is a name that both rules are of. */
static bool meet(const struct net_rule *a, const struct net_rule *b)
{
	if (strcmp(a->host, b->host) == 0)
		return a->is_below == b->is_below;
	return (a->is_below && hostname_is_below(b->host, a->host)) ||
	       (b->is_below && hostname_is_below(a->host, b->host));
}

const struct net_group_row *net_group_open_row(const struct net_rule *rule)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct net_rule open;

		if (rows[i].is_open &&
		    net_rule_parse(rows[i].rule, false, &open, NULL) >= 0 &&
		    meet(&open, rule))
			return &rows[i];
	}
	return NULL;
}

static int each(const char *name, net_group_fn *fn, void *ctx, int depth)
{
	int r = -ENOENT;

	for (size_t i = 0; i < ROWS; i++) {
		if (strcmp(rows[i].group, name) != 0)
			continue;
		if (rows[i].rule[0] != NET_GROUP_SIGIL)
			r = fn(ctx, &rows[i]);
		else
			r = depth > 0
				    ? each(rows[i].rule + 1, fn, ctx, depth - 1)
				    : -ELOOP;
		if (r < 0)
			return r;
	}
	return r;
}

int net_group_each(const char *name, net_group_fn *fn, void *ctx)
{
	return each(name, fn, ctx, NET_GROUP_DEPTH);
}
