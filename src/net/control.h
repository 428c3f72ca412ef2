/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_CONTROL_H
#define HB_NET_CONTROL_H

#include <stdint.h>

/*
 * What is said about the network of a live box.  A client of the door
 * (box/knock.h, knock_net()) has a record socket to the supervisor, which
 * speaks with the relay for it.
 *
 * A client sends one record and waits for the answers.  The last of them is
 * NET_DONE or NET_FAILED; only NET_WATCH has none, and goes on until the client
 * hangs up.  The relay is not trusted: text that it sends is cut, and bytes
 * that are no printable ASCII are replaced before a client sees them.
 */

#define NET_MAGIC    0x68626e63U
#define NET_TEXT_MAX 383

/* clang-format off */
enum net_word {
	/* From a client. */
	NET_ALLOW = 1,	/* text: a rule, which counts for new connections */
	NET_DENY,	/* the same */
	NET_PUBLISH,	/* port inside, other: outside; the supervisor listens */
	NET_LIST,	/* is answered by a NET_RULE for each, then NET_DONE */
	NET_WATCH,	/* questions come to this client: NET_ASK */
	NET_YES,	/* text, port: as in the NET_ASK; a rule from now on */
	NET_NO,
	/* To a client. */
	NET_DONE,
	NET_FAILED,	/* text: the reason */
	NET_RULE,	/* text: the rule; other: 1 if it denies, id: its origin */
	NET_ASK,	/* id, text: the host, port */
	/* Between supervisor and relay alone. */
	NET_SERVERS,	/* text: addresses of name servers, blanks between */
	NET_STALE,	/* the servers may have changed */
	NET_WATCHED,	/* other: 1 if a client answers questions, 0 if not */
	NET_EVENT,	/* a struct net_event follows as its own record */
};
/* clang-format on */

/* NET_RULE: where a rule came from. */
enum net_origin {
	NET_FROM_START, /* the run's settings */
	NET_FROM_LIVE,	/* added since */
};

struct net_record {
	uint32_t magic;
	uint32_t word; /* enum net_word */
	uint32_t id;
	uint16_t port, other;
	char text[NET_TEXT_MAX + 1];
};

#endif
