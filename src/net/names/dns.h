/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_NAMES_DNS_H
#define HB_NET_NAMES_DNS_H

#include "net/hostname.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;
struct net_rule;

/*
 * Messages of the DNS: the resolver that a box sees, and our own questions to
 * the world.  Pure; every byte that comes in is hostile.
 */
enum dns_type {
	DNS_A = 1,
	DNS_PTR = 12,
	DNS_AAAA = 28,
	DNS_OPT = 41,
};

#define DNS_MESSAGE  1232 /* of ours: fits into every path's packet */
#define DNS_QUESTION 300  /* of ours */
#define DNS_STREAM   65535

/* Whom the stub answers for. */
struct dns_stub {
	struct pool *pool;
	const struct net_rule *rules;
	size_t n_rules;
};

/*
 * Answers a question of the box, and asks no server: each name has an address
 * of the pool, with or without a rule.  The size of the answer; 0: it is no
 * question, and gets none.
 */
size_t dns_answer(const struct dns_stub *stub, const unsigned char *in,
		  size_t n, unsigned char out[DNS_MESSAGE]);

/* Our own question about a normalized name, or 0 if it does not fit. */
size_t dns_ask(unsigned char out[DNS_QUESTION], uint16_t id, const char *host,
	       enum dns_type type);

#define DNS_ADDRESSES	 16
#define DNS_CODE_NO_NAME 3

struct dns_reply {
	struct in6_addr addresses[DNS_ADDRESSES];
	size_t n;
	uint32_t ttl; /* the smallest; the caller sets it to the largest */
	bool is_truncated;
	unsigned code;
};

/*
 * Adds the addresses of an answer; those past DNS_ADDRESSES are left out.
 * False: it is no answer to this question, and nothing was added.
 */
bool dns_take(const unsigned char *in, size_t n, uint16_t id, const char *host,
	      enum dns_type type, struct dns_reply *reply);

#endif
