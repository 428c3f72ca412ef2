/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_POOL_H
#define HB_NET_POOL_H

#include "net/hostname.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Addresses that stand for names inside of a box.  Pure.
 *
 * A name for which there is a rule keeps its address for as long as the box
 * lives.  Other names share a ring apart from these.  So no
 * question of a box makes the address of an allowed name mean another.
 *
 *	198.18.0.1	the box itself
 *	198.18.1.0 +	names with a rule, POOL_LISTED of them
 *	198.19.0.0 +	others, POOL_OTHERS of them, over and over
 *
 * IPv6 has the same numbers behind fd68:6264:6b00::/96.
 */
#define POOL_LISTED 16384
#define POOL_OTHERS 4096

#define POOL_OWN_V4 "198.18.0.1"
#define POOL_OWN_V6 "fd68:6264:6b00::1"

struct pool_name;

/* The names with a rule, by number, for the next who serves the box. */
typedef char pool_kept[POOL_LISTED][HOSTNAME_SIZE];

/* Zero is empty. */
struct pool {
	struct pool_name **buckets;
	struct pool_name **listed, **others; /* by number */
	uint32_t n_listed, next_other;
	pool_kept *kept; /* borrowed; or NULL */
};

void pool_done(struct pool *pool);

/*
 * Begins with the names that are kept there, and keeps the next ones there.
 * Who wrote these may have died at any byte: text that is no name has its
 * number for ever, and stands for nothing.
 */
void pool_restore(struct pool *pool, pool_kept *kept);

/*
 * The addresses of a normalized name.  False: all POOL_LISTED are in use, or
 * memory is.
 */
bool pool_assign(struct pool *pool, const char *host, bool is_listed,
		 struct in_addr *ret_v4, struct in6_addr *ret_v6);

/*
 * The name for which an address stands, valid until the next pool_assign();
 * NULL if there is none.  *ret_is_ours: the address is one of the pool's.
 */
const char *pool_find(const struct pool *pool, const struct in6_addr *address,
		      bool *ret_is_ours);

#endif
