/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: net
 *
 * The input is read as a rule.  A rule that was read has a name that
 * normalizes to itself, allows no loopback, and reads back from its text.
 */
#include "fuzz.h"
#include "net/rule.h"

#include <stdint.h>
#include <string.h>

static void decide(const struct net_rule *rule)
{
	struct in6_addr local = { .s6_addr = { [15] = 1 } };
	char host[HOSTNAME_SIZE];

	MUST(rule->low >= 1 && rule->low <= rule->high);
	MUST(rule->range.bits <= 128);
	MUST(net_rule_refuses(rule, &local));
	if (rule->kind != NET_RULE_NAME)
		return;
	MUST(hostname_normalize(rule->host, strlen(rule->host), host));
	MUST(strcmp(rule->host, host) == 0);
	MUST(!net_rules_decide(rule, 1, host, NULL, rule->low) ==
	     rule->is_below);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[NET_RULE_MAX + 32], out[HOSTNAME_SIZE];
	struct net_rule rule, again;

	(void)hostname_normalize((const char *)data, size, out);
	if (size >= sizeof(text))
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	for (int is_deny = 0; is_deny < 2; is_deny++) {
		if (net_rule_parse(text, is_deny, &rule, NULL) < 0)
			continue;
		decide(&rule);
		(void)net_rule_shared(&rule);
		MUST(net_rule_parse(rule.text, is_deny, &again, NULL) == 0);
		MUST(strcmp(again.host, rule.host) == 0);
	}
	return 0;
}
