/* SPDX-License-Identifier: Apache-2.0 */
#include "net/host_group.h"
#include "net/rule.h"

#include "base/error.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

static void every_row_is_a_rule(void)
{
	const struct net_group_row *row;
	size_t n = 0;

	for (; (row = net_group_row_at(n)) != NULL; n++) {
		struct hb_error err = { 0 };
		struct net_rule rule;

		printf("# %s %s\n", row->group, row->rule);
		CHECK_INT(net_rule_parse(row->rule, false, &rule, &err), 0);
		CHECK(rule.kind != NET_RULE_GROUP ||
		      net_group_exists(rule.host));
		CHECK(!net_rule_shared(&rule));
	}
	CHECK(n > 30);
}

static int count(void *ctx, const struct net_group_row *row)
{
	size_t *n = ctx;

	CHECK(row->rule[0] != NET_GROUP_SIGIL);
	(*n)++;
	return 0;
}

static void every_group_ends(void)
{
	const struct net_group_row *row;

	for (size_t i = 0; (row = net_group_row_at(i)) != NULL; i++) {
		size_t n = 0;

		CHECK_INT(net_group_each(row->group, count, &n), 0);
		CHECK(n > 0);
	}
}

static int stop(void *ctx, const struct net_group_row *row)
{
	(void)ctx, (void)row;
	return -EIO;
}

static void groups_in_a_group_are_expanded(void)
{
	size_t all = 0, one = 0;

	CHECK_INT(net_group_each("registries", count, &all), 0);
	CHECK_INT(net_group_each("npm", count, &one), 0);
	CHECK(one > 0 && all > one);
	CHECK_INT(net_group_each("registries", stop, NULL), -EIO);
	CHECK_INT(net_group_each("nothing", count, &all), -ENOENT);
	CHECK(!net_group_exists("nothing"));
}

static bool is_open(const char *text)
{
	struct net_rule rule;

	CHECK_INT(net_rule_parse(text, false, &rule, NULL), 0);
	return net_group_open_row(&rule) != NULL;
}

static void open_hosts_are_known(void)
{
	CHECK(net_group_is_open("github"));
	CHECK(net_group_is_open("npm"));
	CHECK(!net_group_is_open("go"));
	CHECK(!net_group_is_open("java"));
	CHECK(!net_group_is_open("registries"));
	CHECK(is_open("api.github.com"));
	CHECK(is_open("registry.npmjs.org:8443"));
	CHECK(!is_open("codeload.github.com"));
	CHECK(!is_open("npmjs.org"));
	CHECK(!is_open("example.com"));
	/* A wildcard is open if one name of it is. */
	CHECK(is_open("*.npmjs.org"));
	CHECK(is_open("*.a.npmjs.org"));
	CHECK(is_open("*.github.com"));
	CHECK(!is_open("*.codeload.github.com"));
}

TESTS(T(every_row_is_a_rule), T(every_group_ends),
      T(groups_in_a_group_are_expanded), T(open_hosts_are_known))
