/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "box/state.h"
#include "net/access.h"
#include "net/capture.h"
#include "net/relay.h"
#include "sys/net/inet.h"
#include "sys/net/netlink.h"
#include "sys/proc.h"

#include <errno.h>
#include <string.h>

/*
 * The network of a box, from inside, while init has capabilities over it.
 *
 * Without names: a loopback, and nothing else.  With names every address is
 * local, and nf_tables leads each TCP connection to one listener.  The listener
 * and the other sockets go to the supervisor, and are closed here: no process
 * of the box has one of them.
 */

#define NAMES_PORT 53
/* In the way of last resort: each has two listeners. */
#define LIST_MAX 24

static const struct in6_addr any_v4 = { .s6_addr = { [10] = 0xff, 0xff } };
static const struct in6_addr loopback_v4 = {
	.s6_addr = { [10] = 0xff, 0xff, 127, [15] = 1 }
};

struct offer {
	struct message_socket what[RELAY_SOCKETS];
	int fds[RELAY_SOCKETS];
	size_t n;
	enum net_way way;
	bool has_v6;
};

/* Takes the descriptor, or the failure. */
static int offer(struct offer *o, int fd, enum relay_socket_kind kind,
		 uint16_t port)
{
	if (fd < 0)
		return fd;
	if (o->n == RELAY_SOCKETS) {
		sys_close(fd);
		return -E2BIG;
	}
	o->what[o->n] = (struct message_socket){ (uint16_t)kind, port };
	o->fds[o->n++] = fd;
	return 0;
}

static int listen_both(struct offer *o, enum relay_socket_kind kind,
		       uint16_t port, bool is_local, unsigned flags)
{
	struct sys_inet v4 = { is_local ? loopback_v4 : any_v4, port };
	struct sys_inet v6 = { is_local ? in6addr_loopback : in6addr_any,
			       port };
	int r;

	r = offer(o, sys_inet_listen(&v4, flags), kind, port);
	if (r >= 0 && o->has_v6)
		r = offer(o, sys_inet_listen(&v6, flags), kind, port);
	return r;
}

static int send_links(struct offer *o)
{
	struct capture c = { .size = 0 };
	int r;

	capture_links(&c, o->has_v6);
	r = sys_netlink(K_NETLINK_ROUTE, c.at, c.size, c.n_acks);
	if (r >= 0 || !o->has_v6)
		return r;
	/* Switched off for new devices; the first two are done by now. */
	o->has_v6 = false;
	c = (struct capture){ .size = 0 };
	capture_links(&c, false);
	r = sys_netlink(K_NETLINK_ROUTE, c.at, c.size, c.n_acks);
	return r == -EEXIST ? 0 : r;
}

static int send_routes(const struct offer *o)
{
	struct capture c = { .size = 0 };

	capture_routes(&c, o->has_v6);
	return sys_netlink(K_NETLINK_ROUTE, c.at, c.size, c.n_acks);
}

static bool is_listed(const struct offer *o, uint16_t port)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->what[i].kind == RELAY_CATCH && o->what[i].port == port)
			return true;
	return false;
}

/* A listener for each port of a rule; a rule of all ports has none. */
static int listen_listed(struct offer *o, const struct net_access *access)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < access->n_rules; i++) {
		const struct net_rule *rule = &access->rules[i];

		if (rule->is_deny || rule->low != rule->high ||
		    is_listed(o, rule->low))
			continue;
		if (o->n >= 2 * (size_t)LIST_MAX)
			return -E2BIG;
		r = listen_both(o, RELAY_CATCH, rule->low, false, 0);
	}
	return r;
}

static void forget(struct offer *o, size_t first)
{
	while (o->n > first)
		sys_close(o->fds[--o->n]);
}

/* The listener first: rules that lead to nothing could not be taken back. */
static int try_way(struct offer *o, enum net_way way)
{
	struct capture c = { .size = 0 };
	size_t first = o->n;
	int r;

	r = listen_both(o, RELAY_CATCH, CAPTURE_PORT, true,
			way == NET_WAY_TPROXY ? SYS_INET_TRANSPARENT : 0);
	if (r >= 0) {
		capture_rules(&c, way, o->has_v6);
		r = sys_netlink(K_NETLINK_NETFILTER, c.at, c.size, c.n_acks);
	}
	if (r < 0)
		forget(o, first);
	return r;
}

/* By the first way that this kernel has; the last needs nothing of it. */
static void choose_way(struct offer *o)
{
	for (o->way = NET_WAY_TPROXY; o->way < NET_WAY_LIST; o->way++)
		if (try_way(o, o->way) >= 0)
			break;
}

/* Whichever resolver a program asks is the relay. */
static int listen_names(struct offer *o)
{
	const struct sys_inet v4 = { any_v4, NAMES_PORT };
	const struct sys_inet v6 = { in6addr_any, NAMES_PORT };
	int r = 0;

	if (!is_listed(o, NAMES_PORT))
		r = listen_both(o, RELAY_CATCH, NAMES_PORT,
				o->way != NET_WAY_LIST, 0);
	if (r >= 0)
		r = offer(o, sys_inet_bind_datagrams(&v4), RELAY_NAMES,
			  NAMES_PORT);
	if (r >= 0 && o->has_v6)
		r = offer(o, sys_inet_bind_datagrams(&v6), RELAY_NAMES,
			  NAMES_PORT);
	return r;
}

/* For ports that are published now or later. */
static int make_mint(struct offer *o)
{
	const struct sys_inet at = { o->has_v6 ? in6addr_loopback : loopback_v4,
				     CAPTURE_MINT };
	int r;

	r = offer(o, sys_inet_listen(&at, 0), RELAY_MINT, 0);
	if (r >= 0)
		r = offer(o, sys_inet_spare(o->has_v6), RELAY_SPARE, 0);
	return r;
}

static int make_sockets(struct offer *o, const struct net_access *access)
{
	int r = o->way == NET_WAY_LIST ? listen_listed(o, access) : 0;

	if (r >= 0)
		r = listen_names(o);
	for (size_t i = 0; r >= 0 && i < access->n_host_ports; i++)
		r = listen_both(o, RELAY_HOST_PORT, access->host_ports[i], true,
				0);
	return r < 0 ? r : make_mint(o);
}

/* In as many records as it takes; the last has the way. */
static int hand_over(const struct box *box, const struct offer *o)
{
	struct message message;
	size_t n;
	int r = 0;

	for (size_t at = 0; r >= 0 && at < o->n; at += n) {
		n = o->n - at < SYS_RECORD_FDS ? o->n - at : SYS_RECORD_FDS;
		memset(&message, 0, sizeof(message));
		message.kind = MESSAGE_NET;
		message.value = at + n == o->n ? 1 + (int)o->way : 0;
		memcpy(message.sockets, o->what + at,
		       n * sizeof(message.sockets[0]));
		r = sys_send_record_fds(box->report, &message, sizeof(message),
					o->fds + at, n);
	}
	return r;
}

static bool wants_all_ports(const struct net_access *access)
{
	for (size_t i = 0; i < access->n_rules; i++)
		if (!access->rules[i].is_deny &&
		    access->rules[i].low != access->rules[i].high)
			return true;
	return false;
}

static int lead_by_name(const struct box *box, struct offer *o,
			struct hb_error *err)
{
	const struct net_access *access = box->plan->net;
	int r;

	o->has_v6 = sys_inet_has_v6();
	r = send_links(o);
	if (r < 0)
		return hb_fail(err, r, "cannot bring the loopback up");
	r = send_routes(o);
	if (r < 0)
		return hb_fail(err, r, "cannot make addresses local");
	choose_way(o);
	if (o->way == NET_WAY_LIST && access->needs_all_ports &&
	    wants_all_ports(access)) {
		hb_fix(err, "name the ports in the rules, or leave --require "
			    "away");
		return hb_fail(err, -EOPNOTSUPP,
			       "cannot catch every port: this kernel has no "
			       "nf_tables");
	}
	r = make_sockets(o, access);
	if (r < 0)
		return hb_fail(err, r, "cannot listen in the box");
	r = hand_over(box, o);
	if (r < 0)
		return hb_fail(err, r, "cannot hand over the network");
	return 0;
}

int step_network(struct box *box, struct hb_error *err)
{
	static struct offer o; /* too large for a stack that may be small */
	int r;

	if (!(box->ns & PLAN_NS_NET))
		return 0;
	if (box->is_net_beside) {
		net_begin_beside(box);
		return 0;
	}
	if (!box->plan->net)
		return net_bring_up(err);
	r = lead_by_name(box, &o, err);
	for (size_t i = 0; i < o.n; i++)
		fd_closep(&o.fds[i]);
	o.n = 0;
	return r;
}
