/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_ACCESS_H
#define HB_NET_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net_rule;

/*
 * What the command of a box may reach, as the user said it.  A plan has this if
 * its network is by name (struct plan, `net`).  All of it is borrowed, and
 * checked: rules are parsed, groups are expanded, no port is 0.
 */

#define NET_PORTS_MAX	   16 /* of each of the two lists */
#define NET_PROXY_HOST_MAX 253
#define NET_LOGIN_MAX	   512 /* in base64 */

/* A port of the host's loopback that leads to a port of the box. */
struct net_port {
	uint16_t outside, inside;
	bool may_lack; /* where it is taken a line says so, and all else runs */
};

struct net_access {
	const struct net_rule *rules; /* net/rule.h */
	size_t n_rules;
	const struct net_port *ports; /* --port */
	size_t n_ports;
	const uint16_t *host_ports; /* --host-port */
	size_t n_host_ports;
	/*
	 * All connections by name go through this HTTP proxy, by CONNECT.
	 * Then the proxy looks names up, and no address is checked.  NULL:
	 * there is none.
	 */
	const char *proxy_host;
	/* The hosts without it, for hostname_is_listed(); or NULL. */
	const char *no_proxy;
	uint16_t proxy_port;
	/* "USER:PASSWORD" in base64, for the proxy alone; NULL: it wants none.
	 */
	const char *proxy_login;
	bool is_asking; /* --net-ask */
	bool is_loose;	/* --net-loose: names in TLS and HTTP do not count */
	/* --require: a way that catches fewer ports than asked is refused. */
	bool needs_all_ports;
};

/* How connections of the box are caught, by trying in this order. */
/* clang-format off */
#define NET_WAYS(ROW) \
	ROW(TPROXY, "tproxy") /* nf_tables, without connection tracking */ \
	ROW(REDIRECT, "redirect") /* nf_tables, as NAT */ \
	ROW(LIST, "list") /* a listener for each port of a rule */

#define NET_WAY_ID(id, word) NET_WAY_##id,
enum net_way {
	NET_WAYS(NET_WAY_ID)
	NET_WAYS_END
};
#undef NET_WAY_ID
/* clang-format on */

#endif
