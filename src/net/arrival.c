/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * A connection of the box, by the address that it dialled: an address of the
 * pool is the name that it stands for.
 */

#define NAMES_PORT 53
#define ASK_MS	   60000
/* At a time, before it is the turn of others. */
#define ACCEPTS_MAX 64
/* After descriptors or memory were missing. */
#define FULL_MS 1000

static const struct in6_addr v4_loopback = {
	.s6_addr = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 }
};

static bool is_asked_already(const struct relay *r, const struct conn *about)
{
	for (const struct conn *c = r->conns; c; c = c->next)
		if (c != about && c->state == CONN_ASKING &&
		    c->port == about->port && strcmp(c->host, about->host) == 0)
			return true;
	return false;
}

static void ask(struct relay *r, struct conn *c)
{
	bool is_news = !is_asked_already(r, c);

	c->state = CONN_ASKING;
	conn_due(r, c, ASK_MS);
	relay_watch(r, &c->in, 0);
	if (is_news)
		relay_tell(r, NET_ASK, c);
}

/* Inside that is the box; outside it would be the host. */
static bool is_own(const struct in6_addr *a)
{
	return IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a) ||
	       (IN6_IS_ADDR_V4MAPPED(a) &&
		(a->s6_addr[12] == 127 || a->s6_addr[12] == 0));
}

static void begin_address(struct relay *r, struct conn *c,
			  const struct net_rule *rule)
{
	const char *why = net_rule_refuses(rule, &c->destination);

	if (why) {
		greeting_refuse(r, c, "it is %s", why);
		return;
	}
	c->addresses[c->n_addresses++] = c->destination;
	dial_begin(r, c);
}

void arrival_decide(struct relay *r, struct conn *c)
{
	const struct net_rule *rule;
	const char *host;
	bool is_ours;

	host = pool_find(&r->pool, &c->destination, &is_ours);
	if (is_own(&c->destination)) {
		greeting_refuse(r, c, "it is the box itself");
		return;
	}
	if (is_ours && !host) {
		greeting_refuse(r, c, "no name stands for this address");
		return;
	}
	(void)snprintf(c->host, sizeof(c->host), "%s", host ? host : "");
	c->is_named = host != NULL;
	rule = relay_decide(r, c);
	if (!rule && c->is_named && r->start->access->is_asking &&
	    r->is_watched) {
		ask(r, c);
		return;
	}
	if (!rule || rule->is_deny) {
		greeting_refuse(
			r, c, rule ? "a rule denies it" : "no rule allows it");
		return;
	}
	c->is_held = true;
	relay_watch(r, &c->in, SYS_EVENT_IN);
	if (c->is_named)
		lookup_begin(r, c);
	else
		begin_address(r, c, rule);
}

/* To 127.0.0.1 and then ::1, where servers of one family listen. */
static void begin_loopback(struct relay *r, struct conn *c)
{
	c->addresses[c->n_addresses++] = v4_loopback;
	c->addresses[c->n_addresses++] = (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
	dial_begin(r, c);
}

static void begin(struct relay *r, struct conn *c,
		  const struct relay_socket *socket)
{
	struct sys_inet to;
	int got;

	got = r->start->way == NET_WAY_REDIRECT &&
			      socket->kind == RELAY_CATCH &&
			      socket->port != NAMES_PORT
		      ? sys_inet_original(c->in.fd, &to)
		      : sys_inet_own(c->in.fd, &to);
	if (got < 0) {
		conn_end(r, c, true);
		return;
	}
	c->destination = to.address;
	c->port = to.port;
	if (socket->kind == RELAY_HOST_PORT) {
		c->is_local = true;
		c->port = socket->port;
		begin_loopback(r, c);
	} else if (c->port == NAMES_PORT) {
		c->state = CONN_NAMES;
		c->in.ready = stub_stream;
		conn_due(r, c, RELAY_GREETING_MS);
		relay_watch(r, &c->in, SYS_EVENT_IN);
	} else {
		arrival_decide(r, c);
	}
}

/* The next that waits there; NULL: none, or there is no room. */
static struct conn *next(struct relay *r, const struct source *s)
{
	int fd = r->is_full ? -EAGAIN : sys_inet_accept(s->fd);
	struct conn *c;

	if (fd == -EAGAIN)
		r->accepts = 1;

	if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS) {
		relay_listen(r, false);
		r->full_until = r->now + FULL_MS;
		relay_due(r, r->full_until);
	}
	c = fd < 0 ? NULL : conn_new(r, fd);
	if (!c)
		return NULL;
	c->in.ready = arrival_ready;
	c->out.ready = dial_ready;
	c->rival.ready = dial_rival_ready;
	return c;
}

/* How many are tried: twice as many as the last time, if these were there. */
static int accepts_begin(struct relay *r)
{
	int n = r->accepts > 0 ? r->accepts : 1;

	r->accepts = 2 * n < ACCEPTS_MAX ? 2 * n : ACCEPTS_MAX;
	return n;
}

void arrival_caught(struct relay *r, struct source *s, uint32_t events)
{
	const struct relay_socket *socket = s->owner;
	struct conn *c;

	(void)events;
	for (int i = accepts_begin(r); i > 0 && (c = next(r, s)); i--)
		begin(r, c, socket);
}

void arrival_published(struct relay *r, struct source *s, uint32_t events)
{
	const struct relay_socket *socket = s->owner;
	struct conn *c;

	(void)events;
	for (int i = accepts_begin(r); i > 0 && (c = next(r, s)); i--) {
		c->is_published = true;
		c->port = socket->port;
		c->destination = v4_loopback;
		begin_loopback(r, c);
	}
}

void arrival_ready(struct relay *r, struct source *s, uint32_t events)
{
	struct conn *c = s->owner;
	ssize_t n;

	if (c->state == CONN_LINGERING) {
		n = sys_inet_recv(s->fd, r->buffer, RELAY_CHUNK);
		if (n <= 0 && n != -EAGAIN)
			conn_end(r, c, false);
		return;
	}
	if (events & SYS_EVENT_ERR) {
		if (c->state == CONN_RELAYING) {
			memcpy(c->cause, "reset", sizeof("reset"));
			relay_note(r, c, NET_VERDICT_END);
		}
		conn_end(r, c, true);
		return;
	}
	if (c->is_held || c->state == CONN_REFUSING) {
		greeting_look(r, c);
		if (c->state == CONN_DEAD || c->state == CONN_LINGERING ||
		    c->state == CONN_REFUSING)
			return;
	}
	if (c->state == CONN_RELAYING)
		conn_relay(r, c, &c->in, events);
	else if (!c->is_held)
		relay_watch(r, &c->in, 0); /* until there is a server */
}
