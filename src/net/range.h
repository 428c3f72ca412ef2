/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_RANGE_H
#define HB_NET_RANGE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

/* Addresses with the same first bits; IPv4 is ::ffff:a.b.c.d. */
struct net_range {
	struct in6_addr address;
	unsigned bits; /* up to 128 */
};

/* How far a name or an address may lead. */
enum net_reach {
	REACH_PUBLIC,  /* what everybody can reach */
	REACH_PRIVATE, /* also RFC 1918, 100.64/10 and fc00::/7 */
};

struct in6_addr net_address_of_v4(struct in_addr v4);

/* "ADDRESS[/BITS]", nothing else; bits behind the first are cleared. */
bool net_range_parse(const char *text, size_t n, struct net_range *ret);

bool net_range_has(const struct net_range *range, const struct in6_addr *a);

/*
 * NULL if nothing is special about the address, or if `reach` is enough for it.
 * Else its kind in words: "a loopback address".
 *
 * `said`, which may be NULL, is a range that the user has written.  It opens a
 * special network that it lies in, and no special network that it only
 * contains: 169.254.169.254 opens the metadata service, 0.0.0.0/0 does not.
 * Nothing opens loopback: inside, that is the box's own.
 */
const char *net_address_special(const struct in6_addr *a, enum net_reach reach,
				const struct net_range *said);

#endif
