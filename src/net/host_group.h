/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_HOST_GROUP_H
#define HB_NET_HOST_GROUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Groups of hosts by their name: data/net.groups, compiled in.  Pure.
 */
#define NET_GROUP_DEPTH 4 /* of groups in groups */

struct net_rule;

struct net_group_row {
	const char *group;
	const char *rule; /* net/rule.h; "@GROUP": all rows of that group */
	bool is_open;	  /* anybody can post there */
};

/* The i-th row of all; NULL at the end.  Those of a group are together. */
const struct net_group_row *net_group_row_at(size_t i);

bool net_group_exists(const char *name);

/* Whether it has an open host of its own, not one of a group in it. */
bool net_group_is_open(const char *name);

/*
 * The row that says that anybody can post at a name of this rule, at any port;
 * NULL: none.
 */
const struct net_group_row *net_group_open_row(const struct net_rule *rule);

/*
 * Calls `fn` for each row of the group, groups in it included.  A failure ends
 * it and is returned.  -ENOENT: there is no such group.
 */
typedef int net_group_fn(void *ctx, const struct net_group_row *row);
int net_group_each(const char *name, net_group_fn *fn, void *ctx);

#endif
