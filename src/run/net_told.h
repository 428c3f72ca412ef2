/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_NET_TOLD_H
#define HB_RUN_NET_TOLD_H

#include "holdback/report.h"
#include "net/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct network;

/*
 * Stands between a box with a network by name and its listener.  Says how the
 * network is caught, and at the end which hosts were refused.  All reports go
 * on to the listener.
 */
#define NET_TOLD_HOSTS 16

struct net_told {
	const struct hb_listener *next; /* may be NULL */
	const struct network *network;	/* borrowed */
	bool is_quiet;
	struct hb_listener listener; /* out: for the box */
	struct net_refused {
		char host[HOSTNAME_SIZE];
		unsigned port;
		uint64_t n;
		const char *fix; /* behind the host in an option; NULL: none */
	} refused[NET_TOLD_HOSTS];
	size_t n_refused;
	uint64_t n_more; /* of hosts that have no room */
};

void net_told_init(struct net_told *news, const struct hb_listener *next,
		   const struct network *network, bool is_quiet);

/* After the box: one line about the refusals, if there were any. */
void net_told_end(const struct net_told *news);

#endif
