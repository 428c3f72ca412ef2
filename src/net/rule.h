/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_RULE_H
#define HB_NET_RULE_H

#include "net/hostname.h"
#include "net/range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * Rules of the network, from text, and the decision over a list of them.  Pure:
 * no system call, and a decision allocates nothing.
 *
 *	HOST			exactly this name
 *	*.HOST			each name below it, not itself
 *	HOST:PORT  HOST:*	another port, any port
 *	ADDRESS[/BITS][:PORT]	an address that is connected to as such
 *	[ADDRESS[/BITS]][:PORT]	the same; IPv6 with a port has the brackets
 *	…=private		the name may lead to a private address
 *	…=ADDRESS[/BITS]	the name may lead there, and nowhere else
 *	@GROUP			the rules of a group (net/group.h)
 *
 * A rule that allows has port 443 unless it says another; a rule that denies
 * has every port.
 */
#define NET_PORT_USUAL	443
#define NET_RULE_MAX	320 /* bytes of a text */
#define NET_RULES_MAX	1024
#define NET_GROUP_SIGIL '@'
#define NET_GROUP_MAX	32 /* bytes of a group's name */

enum net_rule_kind {
	NET_RULE_NAME,	  /* host */
	NET_RULE_ADDRESS, /* range */
	NET_RULE_GROUP,	  /* host is its name; decides nothing itself */
};

struct net_rule {
	enum net_rule_kind kind;
	bool is_deny;
	bool is_below; /* "*.": the names below `host` */
	uint16_t low, high;
	enum net_reach reach;
	bool has_range; /* of an address rule, or where the name may lead */
	struct net_range range;
	char host[HOSTNAME_SIZE];
	char text[NET_RULE_MAX + 1]; /* as it was written */
};

/*
 * Reads one rule.  -HB_E_USAGE with the cause and, where one is known, the fix;
 * *ret is undefined then.
 */
int net_rule_parse(const char *text, bool is_deny, struct net_rule *ret,
		   struct hb_error *err);

/*
 * Decides about a connection: `host` is a normalized name, or NULL, and then
 * `address` is what was dialled.  The first rule that denies, else the first
 * that allows; NULL: none is about it, and it is refused.
 */
const struct net_rule *net_rules_decide(const struct net_rule *rules, size_t n,
					const char *host,
					const struct in6_addr *address,
					uint16_t port);

/* Whether a rule allows this name on some port. */
bool net_rules_know(const struct net_rule *rules, size_t n, const char *host);

/*
 * Whether a connection that `rule` allows may go to this address, to which the
 * name led or which was dialled.  NULL: yes; else the reason in words.
 */
const char *net_rule_refuses(const struct net_rule *rule,
			     const struct in6_addr *address);

/*
 * Below this rule's domain everybody can have a name, so that the rule allows
 * strangers: the shared domain, "github.io", or NULL.
 */
const char *net_rule_shared(const struct net_rule *rule);

#endif
