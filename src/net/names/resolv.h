/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_NAMES_RESOLV_H
#define HB_NET_NAMES_RESOLV_H

#include "net/names/dns.h"

#include <netinet/in.h>
#include <stddef.h>

/* The host's own files about names.  Pure. */

#define RESOLV_SERVERS 3
#define RESOLV_SEARCH  6
#define RESOLV_SIZE    65536 /* of each of the two files; the rest is ignored */

struct resolv {
	struct in6_addr servers[RESOLV_SERVERS];
	size_t n_servers;
	/* Behind names of one label. */
	char search[RESOLV_SEARCH][HOSTNAME_SIZE];
	size_t n_search;
};

/*
 * Reads the text of resolv.conf.  Without a server it has the loopback's, as
 * every resolver does; lines that cannot be understood are skipped.
 */
void resolv_read(const char *text, struct resolv *ret);

/* Adds the addresses that the text of a hosts file has for the name. */
void resolv_hosts(const char *text, const char *host, struct dns_reply *reply);

#endif
