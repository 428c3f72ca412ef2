/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * From addresses to a connection.  The next address is tried when the last has
 * failed, or has not answered within a moment.  Two attempts are under way at
 * most, and the first that connects wins (RFC 8305, in short).
 */

#define STAGGER_MS 250
#define ATTEMPT_MS 3000
#define DIAL_MS	   15000
#define TUNNEL_MAX 4096 /* bytes of the proxy's answer */

static void set_due(struct relay *r, struct conn *c)
{
	bool has_more = c->next_address < c->n_addresses;
	int64_t ms = has_more && c->rival.fd < 0 ? STAGGER_MS : ATTEMPT_MS;
	int64_t left = c->until - r->now;

	conn_due(r, c, left < ms ? (left > 0 ? left : 1) : ms);
}

static int begin(struct relay *r, const struct conn *c,
		 const struct sys_inet *to)
{
	struct source socket = { .fd = -1 };
	int got;

	if (!c->is_published) {
		got = sys_inet_dial(to, true, &socket.fd);
		return got < 0 ? got : socket.fd;
	}
	socket.fd = mint_socket(r);
	if (socket.fd < 0)
		return socket.fd;
	got = mint_connect(r, socket.fd, to);
	if (got >= 0)
		return socket.fd;
	relay_drop(&socket);
	return got;
}

/* True: an attempt is under way. */
static bool try_next(struct relay *r, struct conn *c)
{
	while (c->next_address < c->n_addresses) {
		struct sys_inet to = { c->addresses[c->next_address++],
				       c->dial_port };
		int fd = begin(r, c, &to);

		if (fd < 0)
			continue;
		sys_inet_no_delay(fd);
		if (c->out.fd >= 0) {
			relay_drop(&c->rival);
			sys_events_forget(r->events, c->out.fd);
			c->rival.fd = c->out.fd;
			c->rival_address = c->out_address;
			c->rival.is_added = false;
			relay_watch(r, &c->rival, SYS_EVENT_OUT);
		}
		c->out.fd = fd;
		c->out_address = (uint8_t)(c->next_address - 1);
		c->out.is_added = false;
		c->state = CONN_DIALING;
		relay_watch(r, &c->out, SYS_EVENT_OUT);
		set_due(r, c);
		return true;
	}
	return c->out.fd >= 0 || c->rival.fd >= 0;
}

static void give_up(struct relay *r, struct conn *c)
{
	greeting_fail(r, c, REFUSAL_FAILED, "there is no connection");
}

void dial_begin(struct relay *r, struct conn *c)
{
	c->until = r->now + DIAL_MS;
	c->dial_port = c->is_proxied ? r->start->access->proxy_port : c->port;
	if (!try_next(r, c))
		give_up(r, c);
}

void dial_due(struct relay *r, struct conn *c)
{
	if (c->state == CONN_TUNNELLING) {
		greeting_fail(r, c, REFUSAL_FAILED,
			      "the proxy does not answer");
		return;
	}
	if (r->now >= c->until) {
		give_up(r, c);
		return;
	}
	if (c->next_address < c->n_addresses) {
		if (!try_next(r, c))
			give_up(r, c);
		return;
	}
	/* The last attempts have had their time. */
	relay_drop(&c->rival);
	relay_drop(&c->out);
	give_up(r, c);
}

static void begin_relay(struct relay *r, struct conn *c)
{
	c->state = CONN_RELAYING;
	conn_due(r, c, 0);
	/* Bytes that come from now on are told of. */
	if (c->is_held && c->has_begun)
		greeting_look(r, c);
	if (c->state != CONN_RELAYING)
		return;
	relay_note(r, c, NET_VERDICT_ALLOW);
	conn_relay(r, c, NULL, 0);
}

static void ask_proxy(struct relay *r, struct conn *c)
{
	char text[2 * HOSTNAME_SIZE + NET_LOGIN_MAX + 128];
	const char *login = r->start->access->proxy_login;
	int n = snprintf(text, sizeof(text),
			 "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n%s%s%s\r\n",
			 c->host, c->port, c->host, c->port,
			 login ? "Proxy-Authorization: Basic " : "",
			 login ? login : "", login ? "\r\n" : "");

	if (n < 0 || sys_inet_send(c->out.fd, text, (size_t)n) != n) {
		give_up(r, c);
		return;
	}
	c->state = CONN_TUNNELLING;
	conn_due(r, c, DIAL_MS);
	relay_watch(r, &c->out, SYS_EVENT_IN);
}

/* The answer is taken off, and not one byte of what follows it. */
static void hear_proxy(struct relay *r, struct conn *c)
{
	ssize_t n = sys_inet_peek(c->out.fd, r->buffer, TUNNEL_MAX);
	const char *end;

	if (n == -EAGAIN)
		return;
	end = n > 0 ? memmem(r->buffer, (size_t)n, "\r\n\r\n", 4) : NULL;
	if (n <= 0 || (!end && n == TUNNEL_MAX)) {
		greeting_fail(r, c, REFUSAL_FAILED, "the proxy hangs up");
		return;
	}
	if (!end) {
		sys_inet_wait_for(c->out.fd, (int)n + 1);
		return;
	}
	sys_inet_wait_for(c->out.fd, 1);
	if (n < 12 || memcmp(r->buffer, "HTTP/1.", 7) != 0 ||
	    r->buffer[9] != '2') {
		greeting_fail(r, c, REFUSAL_FAILED,
			      n >= 12 && memcmp(r->buffer + 9, "407", 3) == 0
				      ? "the proxy wants another login"
				      : "the proxy refuses it");
		return;
	}
	if (sys_inet_recv(c->out.fd, r->buffer, (size_t)(end + 4 - r->buffer)) <
	    0) {
		give_up(r, c);
		return;
	}
	begin_relay(r, c);
}

/* `tried` is its place among the addresses. */
static void connected(struct relay *r, struct conn *c, unsigned tried)
{
	relay_drop(&c->rival);
	c->is_reached = true;
	c->reached = c->addresses[tried];
	conn_due(r, c, 0);
	if (c->is_proxied)
		ask_proxy(r, c);
	else
		begin_relay(r, c);
}

static void failed(struct relay *r, struct conn *c, struct source *s)
{
	relay_drop(s);
	if (!try_next(r, c))
		give_up(r, c);
}

void dial_rival_ready(struct relay *r, struct source *s, uint32_t events)
{
	struct conn *c = s->owner;

	(void)events;
	if (c->state != CONN_DIALING)
		return;
	if (sys_inet_failure(s->fd) < 0) {
		failed(r, c, s);
		return;
	}
	/* The older attempt wins: it becomes the connection. */
	sys_events_forget(r->events, s->fd);
	relay_drop(&c->out);
	c->out.fd = s->fd;
	c->out.is_added = false;
	s->fd = -1;
	connected(r, c, c->rival_address);
}

void dial_ready(struct relay *r, struct source *s, uint32_t events)
{
	struct conn *c = s->owner;

	if (c->state == CONN_DIALING) {
		if (events != SYS_EVENT_OUT && sys_inet_failure(s->fd) < 0)
			failed(r, c, s);
		else
			connected(r, c, c->out_address);
		return;
	}
	if (c->state == CONN_TUNNELLING) {
		hear_proxy(r, c);
		return;
	}
	if (c->state != CONN_RELAYING)
		return;
	/* An end on the other side is heard by reading. */
	if (events & SYS_EVENT_ERR && !(events & SYS_EVENT_IN)) {
		memcpy(c->cause, "reset", sizeof("reset"));
		relay_note(r, c, NET_VERDICT_END);
		conn_end(r, c, true);
		return;
	}
	conn_relay(r, c, &c->out, events);
}
