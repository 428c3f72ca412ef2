/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay_state.h"
#include "sys/sock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * The first bytes of a connection are looked at where they lie.  They go out
 * only if the name in them is the name that was asked for, or is allowed
 * itself. Else a list with one name of a large front end would allow all of its
 * names.
 */

#define TLS_PORT  443
#define HTTP_PORT 80
#define SSH_PORT  22
/* For the first bytes of a client that is refused, where servers may begin. */
#define REFUSE_MS 1000
/* For a client to read why. */
#define LINGER_MS  1000
#define WORDS_SIZE 512
/* Of a client's bytes, before it is refused. */
#define DRAINS 8

static void write_words(const struct conn *c, char words[WORDS_SIZE])
{
	bool has_fix = c->refusal == REFUSAL_DENIED && c->host[0] &&
		       strcmp(c->cause, "no rule allows it") == 0;
	int n = snprintf(words, WORDS_SIZE, "holdback: %s:%u: %s",
			 c->host[0] ? c->host : "address", c->port, c->cause);

	if (has_fix && n > 0 && n < WORDS_SIZE)
		(void)snprintf(words + n, (size_t)(WORDS_SIZE - n),
			       "; outside: holdback net allow %s:%u", c->host,
			       c->port);
}

void greeting_say(struct relay *r, struct conn *c)
{
	unsigned char text[REFUSAL_MAX];
	char words[WORDS_SIZE];
	size_t n;

	/* A client of ssh may wait for the server's greeting first. */
	if (c->kind == SNIFF_MORE && c->port == SSH_PORT)
		c->kind = SNIFF_SSH;
	write_words(c, words);
	n = refusal_make(c->kind, c->refusal, words, text);
	sys_inet_wait_for(c->in.fd, 1);
	/*
	 * Bytes that were not read would turn the answer into a reset.  A
	 * client that sends without an end gets one.
	 */
	for (int i = 0; i < DRAINS; i++)
		if (sys_inet_recv(c->in.fd, r->buffer, RELAY_CHUNK) <= 0)
			break;
	if (n == 0 || sys_inet_send(c->in.fd, text, n) < 0) {
		conn_end(r, c, true);
		return;
	}
	sys_hang_up(c->in.fd);
	c->state = CONN_LINGERING;
	conn_due(r, c, LINGER_MS);
	relay_watch(r, &c->in, SYS_EVENT_IN);
}

/* In words, if there are some: for that its first bytes have to be there. */
static void turn_away(struct relay *r, struct conn *c, enum refusal_cause cause)
{
	c->refusal = cause;
	c->lookup = NULL;
	relay_drop(&c->out);
	relay_drop(&c->rival);
	if (c->kind != SNIFF_MORE) {
		greeting_say(r, c);
		return;
	}
	c->state = CONN_REFUSING;
	/* A slow client of TLS or HTTP is to be told why, too. */
	conn_due(r, c,
		 c->port == TLS_PORT || c->port == HTTP_PORT ? RELAY_GREETING_MS
							     : REFUSE_MS);
	relay_watch(r, &c->in, SYS_EVENT_IN);
}

void greeting_refuse(struct relay *r, struct conn *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(c->cause, sizeof(c->cause), format, args);
	va_end(args);
	relay_note(r, c, NET_VERDICT_DENY);
	turn_away(r, c, REFUSAL_DENIED);
}

void greeting_fail(struct relay *r, struct conn *c, enum refusal_cause cause,
		   const char *why)
{
	(void)snprintf(c->cause, sizeof(c->cause), "%s", why);
	relay_note(r, c, NET_VERDICT_FAIL);
	/* Not in a protocol that the host's own client may not speak. */
	if (c->is_published || c->is_local)
		conn_end(r, c, true);
	else
		turn_away(r, c, cause);
}

static void compare(struct relay *r, struct conn *c, const char *asked)
{
	const struct net_rule *rule;

	if (!c->is_named || r->start->access->is_loose)
		return;
	if (c->port == TLS_PORT && c->kind != SNIFF_TLS &&
	    c->kind != SNIFF_SSH) {
		greeting_refuse(r, c, "port %d is for TLS", TLS_PORT);
		return;
	}
	/* A request to a server that we did not take for one has a name too. */
	if (c->port == HTTP_PORT && c->kind == SNIFF_OTHER) {
		greeting_refuse(r, c, "port %d is for HTTP", HTTP_PORT);
		return;
	}
	if ((c->kind != SNIFF_TLS && c->kind != SNIFF_HTTP) ||
	    strcmp(asked, c->host) == 0)
		return;
	if (!asked[0]) {
		greeting_refuse(r, c, "it says no name inside");
		return;
	}
	rule = net_rules_decide(r->rules, r->n_rules, asked, NULL, c->port);
	if (!rule || rule->is_deny)
		greeting_refuse(r, c, "it asks for %.60s inside", asked);
}

/* No more of them will come, or not in time: there is no name to compare. */
void greeting_cut(struct relay *r, struct conn *c)
{
	sys_inet_wait_for(c->in.fd, 1);
	c->is_held = false;
	c->kind = SNIFF_OTHER;
	if (c->state == CONN_REFUSING)
		greeting_say(r, c);
	else if (c->is_named && !r->start->access->is_loose)
		greeting_refuse(r, c, "its first bytes do not end");
	else if (c->state == CONN_RELAYING)
		conn_due(r, c, 0);
}

/* Until there are more of them: else the same bytes would wake us for ever. */
static void await_more(struct relay *r, struct conn *c, size_t n)
{
	sys_inet_wait_for(c->in.fd, (int)n + 1);
	if (c->state == CONN_RELAYING && c->due == 0)
		conn_due(r, c, RELAY_GREETING_MS);
}

void greeting_look(struct relay *r, struct conn *c)
{
	char asked[HOSTNAME_SIZE];
	ssize_t n = sys_inet_peek(c->in.fd, r->buffer, SNIFF_MAX);

	if (n == -EAGAIN)
		return;
	if (n < 0) {
		conn_end(r, c, true);
		return;
	}
	c->has_begun = true;
	c->kind = n == 0 ? SNIFF_OTHER
			 : sniff((unsigned char *)r->buffer, (size_t)n, asked);
	if (c->kind == SNIFF_MORE) {
		/* A peer that has ended is told of again and again. */
		if (sys_inet_has_ended(c->in.fd) &&
		    sys_inet_peek(c->in.fd, r->buffer, SNIFF_MAX) == n)
			greeting_cut(r, c);
		else
			await_more(r, c, (size_t)n);
		return;
	}
	sys_inet_wait_for(c->in.fd, 1);
	c->is_held = false;
	if (c->state == CONN_REFUSING) {
		greeting_say(r, c);
		return;
	}
	if (c->state == CONN_RELAYING)
		conn_due(r, c, 0);
	if (n > 0)
		compare(r, c, asked);
}
