/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_RELAYED_H
#define HB_BOX_RELAYED_H

#include "box/relay_rest.h"
#include "net/relay.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hb_error;
struct hb_listener;
struct message;

/*
 * The supervisor's side of the network by name.  It keeps a copy of each socket
 * and of every rule.  It starts the relay, starts it again when it has died,
 * and speaks with it for clients at the door.  Without a relay no connection of
 * the box is accepted.  The command starts after the relay has said that it
 * serves, confined.
 */

#define RELAYED_CLIENTS 8
/* Descriptors to poll: the relay's line, its end, and the clients. */
#define RELAYED_FDS (2 + RELAYED_CLIENTS)

struct relayed_client {
	int fd; /* -1: none */
	bool is_watching;
	bool is_listing;
	size_t next; /* of the rules that are listed */
};

struct relayed {
	const struct net_access *access;
	const struct hb_listener *listener;
	struct relay_socket sockets[RELAY_SOCKETS];
	size_t n_sockets;
	enum net_way way;
	struct net_rule *rules; /* of the start, then those since */
	size_t n_rules, n_first;
	pool_kept *names; /* shared with each relay, and not read here */
	pid_t pid;	  /* of the relay; 0: there is none */
	int pidfd, line;
	int go;		/* init waits for its byte: the relay serves; or -1 */
	bool has_begun; /* it serves, or has served */
	int64_t started;
	uint64_t n_events, n_untold; /* of all relays; beyond what is told */
	struct relay_rest rest;	     /* before it is started again */
	uint64_t stamp; /* of the host's resolv.conf as the relay has it */
	struct relayed_client clients[RELAYED_CLIENTS];
};

/*
 * Listens outside for the ports that are published.  A port that is taken is a
 * failure, before anything runs.
 */
int relayed_init(struct relayed *r, const struct net_access *access,
		 const struct hb_listener *listener, struct hb_error *err);

/*
 * Takes sockets of the box, as its init sent them (MESSAGE_NET); descriptors
 * are taken also on failure, and if `r` is NULL.  With the last the relay
 * starts.
 */
int relayed_take(struct relayed *r, const struct message *message,
		 const int *fds, size_t n, struct hb_error *err);

/* Here and below NULL is a box without one.  What to poll for: */
void relayed_wants(const struct relayed *r, struct pollfd fds[RELAYED_FDS]);

/*
 * Returns in how many ms the relay is to be started again, 0 if it lives.
 * -HB_E_CHILD: it never served.
 */
int relayed_serve(struct relayed *r, const struct pollfd fds[RELAYED_FDS]);

/* Starts it again; on failure the network stays closed: ms until the next. */
int relayed_restart(struct relayed *r);

/* A client at the door has sent its line, which is taken. */
void relayed_client(struct relayed *r, int fd);

/* In a supervisor that leaves the box to another: closes all, ends nothing. */
void relayed_leave(struct relayed *r);

/* Ends the relay, and hears its last events. */
void relayed_done(struct relayed *r);

#endif
