/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay.h"

#include "net/relay_state.h"
#include "sys/file.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000

/* An ask that is answered, or not needed any more, is decided again. */
static void decide_again(struct relay *r)
{
	struct conn *c, *next;

	for (c = r->conns; c; c = next) {
		next = c->next;
		/* The same question is not asked twice. */
		if (c->state != CONN_ASKING ||
		    (r->is_watched && !relay_decide(r, c)))
			continue;
		conn_due(r, c, 0);
		arrival_decide(r, c);
	}
}

/* A rule that cannot be kept may deny: the next relay has it. */
static void add_rule(struct relay *r, const char *text, bool is_deny)
{
	struct net_rule *grown;

	grown = reallocarray(r->rules, r->n_rules + 1, sizeof(*grown));
	if (grown)
		r->rules = grown;
	if (!grown ||
	    net_rule_parse(text, is_deny, &grown[r->n_rules], NULL) < 0) {
		r->is_over = true;
		return;
	}
	r->n_rules++;
	decide_again(r);
}

static source_fn *const ready[] = {
	[RELAY_CATCH] = arrival_caught,
	[RELAY_NAMES] = stub_hear,
	[RELAY_HOST_PORT] = arrival_caught,
	[RELAY_PUBLISHED] = arrival_published,
	[RELAY_MINT] = NULL,
	[RELAY_SPARE] = NULL,
};

static void add_socket(struct relay *r, const struct relay_socket *socket)
{
	struct source *s = &r->sources[r->n_sockets];

	if (r->n_sockets == RELAY_SOCKETS) {
		sys_close(socket->fd);
		return;
	}
	r->sockets[r->n_sockets] = *socket;
	*s = (struct source){ .fd = socket->fd,
			      .ready = ready[socket->kind],
			      .owner = &r->sockets[r->n_sockets] };
	r->n_sockets++;
	/* What it accepts has it from there. */
	if (socket->kind != RELAY_NAMES)
		sys_inet_no_delay(socket->fd);
	if (socket->kind == RELAY_MINT)
		r->mint = socket->fd;
	else if (socket->kind == RELAY_SPARE)
		r->spare = socket->fd;
	else
		relay_watch(r, s, r->is_full ? 0 : SYS_EVENT_IN);
}

static void publish(struct relay *r, const struct net_record *record, int fd)
{
	add_socket(r,
		   &(struct relay_socket){ fd, RELAY_PUBLISHED, record->port });
}

static void obey(struct relay *r, const struct net_record *record)
{
	switch ((enum net_word)record->word) {
	case NET_ALLOW:
	case NET_DENY:
		add_rule(r, record->text, record->word == NET_DENY);
		break;
	case NET_WATCHED:
		r->is_watched = record->other;
		decide_again(r);
		break;
	case NET_SERVERS:
		lookup_servers(r, record->text);
		break;
	case NET_PUBLISH:
	case NET_LIST:
	case NET_WATCH:
	case NET_YES:
	case NET_NO:
	case NET_DONE:
	case NET_FAILED:
	case NET_RULE:
	case NET_ASK:
	case NET_STALE:
	case NET_EVENT:
		break;
	}
}

/* The supervisor is trusted; its end is ours. */
static void on_line(struct relay *r, struct source *s, uint32_t events)
{
	int fds[SYS_RECORD_FDS];
	struct net_record record;
	size_t n = 0;
	int got = sys_recv_record_fds(s->fd, &record, sizeof(record), NULL, fds,
				      &n);

	(void)events;
	if (got == -EAGAIN)
		return;
	if (got <= 0 || record.magic != NET_MAGIC) {
		r->is_over = true;
		n = got <= 0 ? 0 : n;
	}
	record.text[NET_TEXT_MAX] = '\0';
	if (!r->is_over && record.word == NET_PUBLISH && n == 1) {
		publish(r, &record, fds[0]);
		return;
	}
	for (size_t i = 0; i < n; i++)
		sys_close(fds[i]);
	if (!r->is_over)
		obey(r, &record);
}

static void on_due(struct relay *r, struct conn *c)
{
	c->due = 0;
	switch (c->state) {
	case CONN_REFUSING:
		greeting_say(r, c);
		break;
	case CONN_ASKING:
		greeting_refuse(r, c, "the question was not answered");
		break;
	case CONN_DIALING:
	case CONN_TUNNELLING:
		dial_due(r, c);
		break;
	case CONN_RELAYING:
		if (c->is_held)
			greeting_cut(r, c);
		if (c->state == CONN_RELAYING)
			conn_relay(r, c, NULL, 0);
		break;
	case CONN_RESOLVING:
		break;
	case CONN_LINGERING:
	case CONN_NAMES:
	case CONN_DEAD:
		conn_end(r, c, true);
		break;
	}
}

/* Does what is due, and says how long to wait; -1: for ever. */
static int do_due(struct relay *r)
{
	struct conn *c, *next;
	int64_t due;

	if (r->next_due == 0)
		return -1;
	if (r->next_due > r->now)
		return (int)(r->next_due - r->now);
	r->next_due = 0;
	if (r->full_until > 0 && r->full_until <= r->now &&
	    r->n_conns < r->start->most)
		relay_listen(r, true);
	else if (r->full_until > 0)
		relay_due(r, r->full_until > r->now ? r->full_until
						    : r->now + SECOND);
	due = lookup_due(r);
	if (due > 0)
		relay_due(r, due);
	for (c = r->conns; c; c = next) {
		next = c->next;
		if (c->due > 0 && c->due <= r->now)
			on_due(r, c);
		else if (c->due > 0)
			relay_due(r, c->due);
	}
	if (r->next_due == 0)
		return -1;
	return r->next_due > r->now ? (int)(r->next_due - r->now) : 0;
}

/* What ended in a round is freed after it: events of it may be left. */
static void bury(struct relay *r)
{
	while (r->dead) {
		struct conn *c = r->dead;

		r->dead = c->next;
		conn_free(r, c);
	}
	lookup_bury(r);
}

static bool prepare(struct relay *r)
{
	const struct relay_start *start = r->start;

	r->events = sys_events_open();
	r->buffer = malloc(RELAY_CHUNK);
	r->cache = calloc(RELAY_CACHED, sizeof(*r->cache));
	r->rules = calloc(start->n_rules + 1, sizeof(*r->rules));
	if (r->events < 0 || !r->buffer || !r->cache || !r->rules)
		return false;
	if (start->n_rules > 0)
		memcpy(r->rules, start->rules,
		       start->n_rules * sizeof(*r->rules));
	r->n_rules = start->n_rules;
	r->resolv = start->resolv;
	pool_restore(&r->pool, start->names);
	r->is_watched = start->is_watched;
	for (size_t i = 0; i < start->n_sockets; i++)
		add_socket(r, &start->sockets[i]);
	r->line = (struct source){ .fd = start->line, .ready = on_line };
	relay_watch(r, &r->line, SYS_EVENT_IN);
	return true;
}

static void serve(struct relay *r)
{
	struct sys_event events[SYS_EVENTS_MAX];
	int n;

	while (!r->is_over) {
		r->now = sys_now_ms();
		n = sys_events_wait(r->events, events, SYS_EVENTS_MAX,
				    do_due(r));
		r->now = sys_now_ms();
		for (int i = 0; i < n; i++) {
			struct source *s = events[i].source;

			if (s->fd >= 0 && !relay_hush(r, s, events[i].events))
				s->ready(r, s, events[i].events);
		}
		bury(r);
	}
}

/* Connections that are cut off by the end of the box are told of as well. */
static void tell_rest(struct relay *r)
{
	for (const struct conn *c = r->conns; c; c = c->next)
		if (c->state == CONN_RELAYING)
			relay_note(r, c, NET_VERDICT_END);
	relay_tell_gap(r);
}

void relay_run(const struct relay_start *start)
{
	static struct relay r;

	r = (struct relay){ .start = start, .mint = -1, .spare = -1 };
	r.now = sys_now_ms();
	if (!prepare(&r))
		return;
	relay_tell(&r, NET_DONE, NULL);
	serve(&r);
	tell_rest(&r);
}
