/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_RELAY_STATE_H
#define HB_NET_RELAY_STATE_H

#include "net/names/dns.h"
#include "net/pool.h"
#include "net/refusal.h"
#include "net/relay.h"
#include "net/sniff.h"
#include "sys/net/inet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The state of the relay, private to src/net.  Each file has one concern:
 *
 *	relay.c		the loop, time, the supervisor's records
 *	watched.c	descriptors that are waited for
 *	news_out.c	what the supervisor is told
 *	arrival.c	the first moment of a connection, and its decision
 *	stub.c	questions of the box about names
 *	lookup.c	our own questions to name servers, and their answers
 *	dial.c		from addresses to a connection; the HTTP proxy
 *	greeting.c	the first bytes, and refusals
 *	flow.c		bytes both ways, and the end
 *	mint.c		sockets of the box
 */

#define RELAY_CHUNK	  ((size_t)1 << 18)
#define RELAY_GREETING_MS 10000
#define RELAY_ADDRESSES	  8
#define RELAY_CACHED	  256

struct relay;
struct source;
typedef void source_fn(struct relay *r, struct source *s, uint32_t events);

/* A descriptor that is waited for. */
struct source {
	int fd; /* -1: none */
	uint32_t events;
	source_fn *ready;
	void *owner;
	bool is_added;
	bool is_over; /* both ways, and not watched if nothing is wanted */
};

/* Bytes one way: those that were read and could not be written yet. */
struct flow {
	struct source *from, *to;
	char *kept;
	size_t n_kept, left, offset;
	bool has_ended, is_shut;
	uint64_t n_bytes;
};

/*
 * asking -> resolving -> dialing -> tunnelling -> relaying -> dead.  A step
 * that is not needed is left out.  From each of them but the last:
 * -> refusing (until its first bytes are there) -> lingering (until the client
 * has read the words) -> dead.  Questions over a stream have a state of their
 * own.
 */
enum conn_state {
	CONN_ASKING,
	CONN_RESOLVING,
	CONN_DIALING,
	CONN_TUNNELLING, /* waits for the proxy's answer */
	CONN_RELAYING,
	CONN_REFUSING,
	CONN_LINGERING,
	CONN_NAMES,
	CONN_DEAD,
};

struct lookup;

struct conn {
	struct source in, out;
	struct source rival; /* an older attempt that may still win */
	struct flow up, down;
	enum conn_state state;
	struct conn *next, **back;
	struct lookup *lookup;
	struct in6_addr destination, addresses[RELAY_ADDRESSES];
	struct in6_addr reached;
	uint8_t n_addresses, next_address;
	uint8_t out_address, rival_address; /* where the attempts lead */
	uint16_t port, dial_port;
	enum sniff_kind kind;
	enum refusal_cause refusal;
	bool is_held;	/* nothing goes up before its first bytes were seen */
	bool has_begun; /* some of these are there */
	bool is_named;	/* by a name, which is compared */
	bool is_published; /* from the host into the box */
	bool is_local;	   /* to a port of the host */
	bool is_proxied;
	bool is_reached;
	uint32_t id;
	int64_t due, until, began;
	unsigned char *question; /* CONN_NAMES */
	size_t n_question;
	char host[HOSTNAME_SIZE]; /* "" if it is an address */
	char cause[NET_CAUSE_SIZE];
};

struct cached {
	char host[HOSTNAME_SIZE];
	struct dns_reply reply;
	int64_t until;
};

struct relay {
	const struct relay_start *start;
	struct net_rule *rules;
	size_t n_rules;
	struct pool pool;
	struct resolv resolv;
	bool is_watched;
	int events;
	int64_t now, next_due;
	struct source sources[RELAY_SOCKETS], line;
	struct relay_socket sockets[RELAY_SOCKETS];
	size_t n_sockets;
	struct conn *conns, *dead;
	unsigned n_conns;
	uint32_t n_ids;
	bool is_full;
	int64_t full_until;
	int accepts; /* to try at once: 1 as long as they come one by one */
	struct lookup *lookups, *dead_lookups;
	unsigned n_lookups;
	struct cached *cache;
	size_t n_cached;
	char *buffer;	 /* RELAY_CHUNK */
	size_t n_kept;	 /* bytes that clients and servers have not taken */
	int mint, spare; /* -1: no port is published */
	int64_t second;	 /* of the last event */
	unsigned n_events;
	uint64_t n_left_out;
	int64_t stale_at;
	bool is_over;
};

/* watched.c */
void relay_watch(struct relay *r, struct source *s, uint32_t events);
void relay_drop(struct source *s); /* closes */
bool relay_hush(struct relay *r, struct source *s, uint32_t events);
void relay_due(struct relay *r, int64_t at);
void relay_listen(struct relay *r, bool is_on);

/* news_out.c */
void relay_note(struct relay *r, const struct conn *c,
		enum net_verdict verdict);
void relay_tell_gap(struct relay *r);
void relay_tell(struct relay *r, enum net_word word, const struct conn *c);
const struct net_rule *relay_decide(const struct relay *r,
				    const struct conn *c);

/* flow.c */
struct conn *conn_new(struct relay *r, int fd);
void conn_due(struct relay *r, struct conn *c, int64_t ms); /* 0: never */
void conn_end(struct relay *r, struct conn *c, bool is_reset);
/* `ready` has told of these events; NULL: both ways are tried. */
void conn_relay(struct relay *r, struct conn *c, const struct source *ready,
		uint32_t events);
void conn_free(struct relay *r, struct conn *c);

/* greeting.c */
void greeting_look(struct relay *r, struct conn *c);
void greeting_say(struct relay *r, struct conn *c);
void greeting_cut(struct relay *r, struct conn *c);
void greeting_refuse(struct relay *r, struct conn *c, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void greeting_fail(struct relay *r, struct conn *c, enum refusal_cause cause,
		   const char *why);

/* dial.c */
void dial_begin(struct relay *r, struct conn *c);
void dial_due(struct relay *r, struct conn *c);
source_fn dial_ready, dial_rival_ready;

/* lookup.c */
void lookup_begin(struct relay *r, struct conn *c);
int64_t lookup_due(struct relay *r); /* the next, 0: none */
void lookup_bury(struct relay *r);
void lookup_servers(struct relay *r, const char *text);

/* arrival.c */
void arrival_decide(struct relay *r, struct conn *c);
source_fn arrival_caught, arrival_published, arrival_ready;

/* stub.c */
source_fn stub_hear, stub_stream;

/* mint.c */
int mint_socket(struct relay *r);
int mint_connect(struct relay *r, int fd, const struct sys_inet *to);

#endif
