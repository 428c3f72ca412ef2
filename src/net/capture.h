/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_CAPTURE_H
#define HB_NET_CAPTURE_H

#include "net/access.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The messages to the kernel that make each address of a new network namespace
 * local, and lead every TCP connection of it to one listener.  Pure: they are
 * written, not sent.
 */

/* Where the listener is, on 127.0.0.1 and ::1.  No program binds port 1. */
#define CAPTURE_PORT 1
/* Where sockets of the box are minted (net/mint.h), on ::1. */
#define CAPTURE_MINT 2

#define CAPTURE_ROOM 4096

/* For words: "tproxy". */
const char *net_way_name(enum net_way way);

/* Zero is empty. */
struct capture {
	_Alignas(8) char at[CAPTURE_ROOM];
	size_t size;
	size_t last; /* where the last message begins */
	unsigned n_acks;
};

/* Up, with an address by which programs see that there is a network. */
void capture_links(struct capture *c, bool has_v6);

/*
 * Each address is local.  The source of a connection is the box's own address:
 * else it would be the destination, and a client could be connected to itself.
 */
void capture_routes(struct capture *c, bool has_v6);

/* The rules of nf_tables for NET_WAY_TPROXY or NET_WAY_REDIRECT. */
void capture_rules(struct capture *c, enum net_way way, bool has_v6);

#endif
