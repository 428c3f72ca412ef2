/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_RELAY_H
#define HB_NET_RELAY_H

#include "net/access.h"
#include "net/control.h"
#include "net/hostname.h"
#include "net/names/resolv.h"
#include "net/pool.h"
#include "net/rule.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The process between a box and the network.  It holds sockets of both, hears
 * the box, and decides by the rules.  It opens no file, starts no program, and
 * trusts no byte.
 *
 *	(a) Its death closes the network: no other process listens, and nothing
 *	    of its sockets is in the box.
 *	(b) It ends with the last copy of the other end of `line`.
 *	(c) An address that was checked is the address that is connected to.
 *	(d) No byte of the box goes out before its first bytes were seen.
 */

/* As many as go with two records (box/netns.c), and live ports. */
#define RELAY_SOCKETS 96

enum relay_socket_kind {
	RELAY_CATCH,	 /* of the box: any destination */
	RELAY_NAMES,	 /* of the box: questions in datagrams */
	RELAY_HOST_PORT, /* of the box: leads to `port` of the host */
	RELAY_PUBLISHED, /* of the host: leads to `port` of the box */
	RELAY_MINT,	 /* of the box: where its new sockets come from */
	RELAY_SPARE,	 /* of the box: the first of these */
};

struct relay_socket {
	int fd;
	enum relay_socket_kind kind;
	uint16_t port;
};

/* What it is given; all of it is borrowed, and lives as long as it runs. */
struct relay_start {
	const struct net_access *access;
	const struct net_rule *rules; /* with those that were added live */
	size_t n_rules;
	struct relay_socket sockets[RELAY_SOCKETS];
	size_t n_sockets;
	enum net_way way;
	int line; /* record socket: struct net_record in, net_news out */
	bool is_watched;
	struct resolv resolv;
	const char *hosts; /* the text of the host's file */
	pool_kept *names;  /* of the relays before this, and after; or NULL */
	unsigned most;	   /* connections at once */
};

enum net_verdict {
	NET_VERDICT_ALLOW,
	NET_VERDICT_DENY,
	NET_VERDICT_FAIL,
	NET_VERDICT_END,
	NET_VERDICT_GAP, /* n events were left out */
	NET_VERDICTS
};

#define NET_CAUSE_SIZE 96

/* A decision, or the end of a connection. */
struct net_event {
	uint32_t verdict; /* enum net_verdict */
	uint32_t kind;	  /* enum sniff_kind */
	uint32_t id;
	uint16_t port;
	uint16_t is_connected; /* `address` is known */
	struct in6_addr address;
	char host[HOSTNAME_SIZE];
	char rule[NET_RULE_MAX + 1];
	char cause[NET_CAUSE_SIZE];
	uint64_t up, down, ms, n;
};

/* Each record that the relay sends. */
struct net_news {
	struct net_record record;
	struct net_event event; /* NET_EVENT */
};

/*
 * Serves until `line` ends.  The caller has confined itself: net/fence.h.  The
 * first record says that it has begun: NET_DONE.
 */
void relay_run(const struct relay_start *start);

#endif
