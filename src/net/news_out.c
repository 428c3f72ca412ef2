/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay_state.h"
#include "sys/sock.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* What the supervisor is told: never waited for, and never lost in silence. */

/* In a second; the others are counted. */
#define EVENTS_MAX 100
#define SECOND	   1000

const struct net_rule *relay_decide(const struct relay *r, const struct conn *c)
{
	return net_rules_decide(r->rules, r->n_rules,
				c->host[0] ? c->host : NULL, &c->destination,
				c->port);
}

static const char *rule_text(const struct relay *r, const struct conn *c)
{
	const struct net_rule *rule;

	if (c->is_published)
		return "port";
	if (c->is_local)
		return "host-port";
	rule = relay_decide(r, c);
	return rule ? rule->text : "";
}

static void address_text(const struct in6_addr *a, char *out, size_t size)
{
	if (IN6_IS_ADDR_V4MAPPED(a))
		(void)inet_ntop(AF_INET, a->s6_addr + 12, out, (socklen_t)size);
	else
		(void)inet_ntop(AF_INET6, a, out, (socklen_t)size);
}

/* A supervisor that does not listen just now misses it, and is told so. */
static void send_event(struct relay *r, struct net_news *news)
{
	news->record.magic = NET_MAGIC;
	news->record.word = NET_EVENT;
	if (sys_offer_record(r->start->line, news, sizeof(*news)) < 0)
		r->n_left_out += news->event.verdict == NET_VERDICT_GAP
					 ? news->event.n
					 : 1;
}

void relay_tell_gap(struct relay *r)
{
	struct net_news news;

	if (r->n_left_out == 0)
		return;
	memset(&news, 0, sizeof(news));
	news.event.verdict = NET_VERDICT_GAP;
	news.event.n = r->n_left_out;
	r->n_left_out = 0;
	send_event(r, &news);
}

void relay_note(struct relay *r, const struct conn *c, enum net_verdict verdict)
{
	struct net_news news;
	struct net_event *e = &news.event;

	if (r->now / SECOND != r->second) {
		r->second = r->now / SECOND;
		r->n_events = 0;
		relay_tell_gap(r);
	}
	if (r->n_events++ >= EVENTS_MAX) {
		r->n_left_out++;
		return;
	}
	/* Whole: bytes that are not ours would cross to the supervisor. */
	memset(&news, 0, sizeof(news));
	e->verdict = verdict;
	e->kind = c->kind;
	e->id = c->id;
	e->port = c->port;
	e->is_connected = c->is_reached;
	e->address = c->reached;
	if (c->host[0])
		memcpy(e->host, c->host, sizeof(e->host));
	else
		address_text(&c->destination, e->host, sizeof(e->host));
	(void)snprintf(e->rule, sizeof(e->rule), "%s", rule_text(r, c));
	memcpy(e->cause, c->cause, sizeof(e->cause));
	e->up = c->up.n_bytes;
	e->down = c->down.n_bytes;
	e->ms = (uint64_t)(r->now - c->began);
	send_event(r, &news);
}

void relay_tell(struct relay *r, enum net_word word, const struct conn *c)
{
	struct net_news news;

	memset(&news, 0, sizeof(news));
	news.record.magic = NET_MAGIC;
	news.record.word = word;
	if (c) {
		news.record.id = c->id;
		news.record.port = c->port;
		memcpy(news.record.text, c->host, sizeof(c->host));
	}
	(void)sys_offer_record(r->start->line, &news, sizeof(news));
}
