/* SPDX-License-Identifier: Apache-2.0 */
#include "net/hostname.h"
#include "net/range.h"
#include "net/relay_state.h"
#include "sys/place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Our own resolver: that of libc waits, and opens files.  Two questions, for
 * both families, go over one connected socket with a port and numbers that no
 * other can guess.  An answer that was cut is asked for again over a stream.
 * Servers that refuse or do not answer are followed by the next.
 */

#define NAMES_PORT  53
#define TRY_MS	    1500
#define TRIES	    4
#define SECOND_MS   50 /* for the second family, after the first answered */
#define LOOKUPS_MAX 256
#define TTL_MAX	    300
#define TTL_NONE    1
#define STALE_MS    1000
#define LENGTH	    2
#define DATAGRAM    4096
#define FAMILIES    2

static const enum dns_type types[FAMILIES] = { DNS_A, DNS_AAAA };

struct lookup {
	struct source source;
	struct lookup *next;
	uint16_t ids[FAMILIES];
	bool has[FAMILIES];
	bool is_stream, is_asked;
	unsigned tries, variant;
	int64_t due;
	struct dns_reply reply;
	unsigned char *stream;
	size_t n_stream;
	char host[HOSTNAME_SIZE];
	char asked[HOSTNAME_SIZE]; /* with what is behind a single label */
};

static source_fn on_answer;

/* Alternately, IPv6 first: a host without it fails there at once. */
static void order_addresses(struct dns_reply *reply)
{
	struct in6_addr sorted[DNS_ADDRESSES] = { 0 };
	size_t n = 0, next[FAMILIES] = { 0 };
	bool wants_v4 = false;

	while (n < reply->n) {
		size_t i = next[wants_v4];

		while (i < reply->n &&
		       IN6_IS_ADDR_V4MAPPED(&reply->addresses[i]) != wants_v4)
			i++;
		if (i < reply->n)
			sorted[n++] = reply->addresses[i];
		next[wants_v4] = i + 1;
		wants_v4 = !wants_v4;
	}
	memcpy(reply->addresses, sorted, n * sizeof(sorted[0]));
}

/* A rule that denies an address beats a rule for a name of it. */
static const char *refuses(const struct relay *r, const struct conn *c,
			   const struct net_rule *rule,
			   const struct in6_addr *address)
{
	const struct net_rule *own =
		net_rules_decide(r->rules, r->n_rules, NULL, address, c->port);

	return own && own->is_deny ? "an address that a rule denies"
				   : net_rule_refuses(rule, address);
}

static void take_addresses(struct relay *r, struct conn *c,
			   const struct net_rule *rule,
			   const struct dns_reply *reply)
{
	const char *why = NULL, *bad;

	for (size_t i = 0; i < reply->n && c->n_addresses < RELAY_ADDRESSES;
	     i++) {
		bad = c->is_proxied ? NULL
				    : refuses(r, c, rule, &reply->addresses[i]);
		if (bad)
			why = bad;
		else
			c->addresses[c->n_addresses++] = reply->addresses[i];
	}
	if (c->n_addresses == 0)
		greeting_refuse(r, c, "it leads to %s", why);
	else
		dial_begin(r, c);
}

/* Rules may have changed since the question. */
static void resolved(struct relay *r, struct conn *c,
		     const struct dns_reply *reply)
{
	const struct net_rule *rule = relay_decide(r, c);

	c->lookup = NULL;
	if (!rule || rule->is_deny)
		greeting_refuse(r, c, "no rule allows it");
	else if (reply->n > 0)
		take_addresses(r, c, rule, reply);
	else if (c->is_proxied)
		greeting_fail(r, c, REFUSAL_FAILED, "the proxy has no address");
	else if (reply->code == DNS_CODE_NO_NAME)
		greeting_fail(r, c, REFUSAL_NO_NAME, "there is no such name");
	else
		greeting_fail(r, c, REFUSAL_FAILED,
			      "the name cannot be looked up");
}

static void remember(struct relay *r, const struct lookup *l)
{
	struct cached *slot = NULL;
	uint32_t ttl = l->reply.n == 0 ? TTL_NONE : l->reply.ttl;

	for (size_t i = 0; i < r->n_cached; i++) {
		struct cached *s = &r->cache[i];

		if (strcmp(s->host, l->host) == 0) {
			slot = s;
			break;
		}
		if (!slot || s->until < slot->until)
			slot = s;
	}
	if (r->n_cached < RELAY_CACHED &&
	    !(slot && strcmp(slot->host, l->host) == 0))
		slot = &r->cache[r->n_cached++];
	memcpy(slot->host, l->host, sizeof(slot->host));
	slot->reply = l->reply;
	slot->until = r->now + 1000 * (int64_t)(ttl < TTL_MAX ? ttl : TTL_MAX);
}

static void finish(struct relay *r, struct lookup *l)
{
	struct lookup **at = &r->lookups;
	struct conn *c, *next;

	order_addresses(&l->reply);
	remember(r, l);
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	r->n_lookups--;
	relay_drop(&l->source);
	for (c = r->conns; c; c = next) {
		next = c->next;
		if (c->lookup == l)
			resolved(r, c, &l->reply);
	}
	l->next = r->dead_lookups;
	r->dead_lookups = l;
}

static void set_due(struct relay *r, struct lookup *l, int64_t ms)
{
	l->due = r->now + ms;
	relay_due(r, l->due);
}

static int dial_server(struct relay *r, struct lookup *l, bool is_stream)
{
	size_t n = r->resolv.n_servers;
	struct sys_inet to = { r->resolv.servers[(l->tries - 1) % n],
			       NAMES_PORT };
	int fd = -1, got;

	relay_drop(&l->source);
	got = sys_inet_dial(&to, is_stream, &fd);
	if (got < 0)
		return got;
	l->source = (struct source){ .fd = fd, .ready = on_answer, .owner = l };
	l->is_stream = is_stream;
	l->is_asked = false;
	l->n_stream = 0;
	return 0;
}

/* Behind its length, if it is a stream. */
static void send_questions(const struct lookup *l)
{
	unsigned char text[LENGTH + DNS_QUESTION];

	for (int i = 0; i < FAMILIES; i++) {
		size_t n, skip = l->is_stream ? 0 : LENGTH;

		if (l->has[i])
			continue;
		n = dns_ask(text + LENGTH, l->ids[i], l->asked, types[i]);
		text[0] = (unsigned char)(n >> 8);
		text[1] = (unsigned char)n;
		(void)sys_inet_send(l->source.fd, text + skip,
				    LENGTH + n - skip);
	}
}

/* The next server, or the end. */
static void try_next(struct relay *r, struct lookup *l)
{
	if (l->reply.n > 0 || l->tries >= TRIES ||
	    sys_random(l->ids, sizeof(l->ids)) < 0) {
		finish(r, l);
		return;
	}
	l->tries++;
	set_due(r, l, TRY_MS);
	if (dial_server(r, l, false) < 0) {
		set_due(r, l, 1);
		return;
	}
	relay_watch(r, &l->source, SYS_EVENT_IN);
	send_questions(l);
}

/* A name of one label with the next of the search list; false: no more. */
static bool next_variant(const struct relay *r, struct lookup *l)
{
	int n = -1;

	while (!strchr(l->host, '.') && l->variant < r->resolv.n_search) {
		n = snprintf(l->asked, sizeof(l->asked), "%s.%s", l->host,
			     r->resolv.search[l->variant++]);
		if (n > 0 && (size_t)n < sizeof(l->asked))
			break;
		n = -1;
	}
	if (n < 0)
		return false;
	l->has[0] = l->has[1] = false;
	l->tries = 0;
	return true;
}

static void heard_all(struct relay *r, struct lookup *l)
{
	bool is_said = l->reply.n > 0 || l->reply.code == DNS_CODE_NO_NAME ||
		       l->reply.code == 0;

	if (l->reply.n == 0 && is_said && next_variant(r, l)) {
		try_next(r, l);
		return;
	}
	if (is_said) {
		finish(r, l);
		return;
	}
	l->has[0] = l->has[1] = false;
	try_next(r, l);
}

/* False: it was cut, and is asked for again. */
static bool take(struct lookup *l, const unsigned char *in, size_t n)
{
	for (int i = 0; i < FAMILIES; i++) {
		size_t before = l->reply.n;

		if (l->has[i] ||
		    !dns_take(in, n, l->ids[i], l->asked, types[i], &l->reply))
			continue;
		if (l->reply.is_truncated && !l->is_stream) {
			l->reply.n = before;
			return false;
		}
		l->has[i] = true;
		break;
	}
	return true;
}

static void after_answer(struct relay *r, struct lookup *l)
{
	if (l->has[0] && l->has[1])
		heard_all(r, l);
	else if (l->reply.n > 0)
		set_due(r, l, SECOND_MS);
}

static void begin_stream(struct relay *r, struct lookup *l)
{
	if (!l->stream)
		l->stream = malloc(LENGTH + DNS_STREAM);
	if (!l->stream || dial_server(r, l, true) < 0) {
		try_next(r, l);
		return;
	}
	set_due(r, l, TRY_MS);
	relay_watch(r, &l->source, SYS_EVENT_OUT);
}

static void on_stream(struct relay *r, struct lookup *l)
{
	size_t size;
	ssize_t n;

	if (!l->is_asked) {
		if (sys_inet_failure(l->source.fd) < 0) {
			try_next(r, l);
			return;
		}
		l->is_asked = true;
		send_questions(l);
		relay_watch(r, &l->source, SYS_EVENT_IN);
		return;
	}
	n = sys_inet_recv(l->source.fd, l->stream + l->n_stream,
			  LENGTH + DNS_STREAM - l->n_stream);
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		try_next(r, l);
		return;
	}
	l->n_stream += (size_t)n;
	while (l->n_stream >= LENGTH) {
		size = (size_t)l->stream[0] << 8 | l->stream[1];
		if (l->n_stream < LENGTH + size)
			return;
		(void)take(l, l->stream + LENGTH, size);
		l->n_stream -= LENGTH + size;
		memmove(l->stream, l->stream + LENGTH + size, l->n_stream);
	}
	after_answer(r, l);
}

static void on_answer(struct relay *r, struct source *s, uint32_t events)
{
	struct lookup *l = s->owner;
	ssize_t n;

	(void)events;
	if (l->is_stream) {
		on_stream(r, l);
		return;
	}
	n = sys_inet_recv(s->fd, r->buffer, DATAGRAM);
	if (n == -EAGAIN)
		return;
	if (n < 0)
		try_next(r, l); /* it refuses */
	else if (!take(l, (unsigned char *)r->buffer, (size_t)n))
		begin_stream(r, l);
	else
		after_answer(r, l);
}

/* Servers may be others by now: the supervisor looks. */
static void mention_stale(struct relay *r)
{
	if (r->now < r->stale_at)
		return;
	r->stale_at = r->now + STALE_MS;
	relay_tell(r, NET_STALE, NULL);
}

static void begin(struct relay *r, struct conn *c, const char *host)
{
	struct lookup *l;

	for (l = r->lookups; l; l = l->next)
		if (strcmp(l->host, host) == 0) {
			c->lookup = l;
			return;
		}
	l = r->n_lookups < LOOKUPS_MAX ? calloc(1, sizeof(*l)) : NULL;
	if (!l) {
		greeting_fail(r, c, REFUSAL_FAILED, "too many names at once");
		return;
	}
	mention_stale(r);
	(void)snprintf(l->host, sizeof(l->host), "%s", host);
	memcpy(l->asked, l->host, sizeof(l->asked));
	l->source.fd = -1;
	l->reply.ttl = UINT32_MAX;
	l->next = r->lookups;
	r->lookups = l;
	r->n_lookups++;
	c->lookup = l;
	(void)next_variant(r, l);
	try_next(r, l);
}

/* Without a question: an address, the host's own file, or what is known. */
static bool find_known(const struct relay *r, const char *host,
		       struct dns_reply *ret)
{
	struct net_range literal;

	if (net_range_parse(host, strlen(host), &literal)) {
		ret->addresses[ret->n++] = literal.address;
		return true;
	}
	resolv_hosts(r->start->hosts, host, ret);
	if (ret->n > 0)
		return true;
	for (size_t i = 0; i < r->n_cached; i++)
		if (r->cache[i].until > r->now &&
		    strcmp(r->cache[i].host, host) == 0) {
			*ret = r->cache[i].reply;
			return true;
		}
	return false;
}

void lookup_begin(struct relay *r, struct conn *c)
{
	const struct net_access *access = r->start->access;
	bool is_direct = access->no_proxy &&
			 hostname_is_listed(c->host, access->no_proxy);
	const char *proxy = is_direct ? NULL : access->proxy_host;
	const char *host = proxy ? proxy : c->host;
	struct dns_reply known = { 0 };

	c->is_proxied = proxy != NULL;
	c->state = CONN_RESOLVING;
	if (find_known(r, host, &known))
		resolved(r, c, &known);
	else
		begin(r, c, host);
}

int64_t lookup_due(struct relay *r)
{
	struct lookup *l, *next;
	int64_t due = 0;

	for (l = r->lookups; l; l = next) {
		next = l->next;
		if (l->due <= r->now)
			try_next(r, l);
	}
	for (l = r->lookups; l; l = l->next)
		if (due == 0 || l->due < due)
			due = l->due;
	return due;
}

void lookup_bury(struct relay *r)
{
	while (r->dead_lookups) {
		struct lookup *l = r->dead_lookups;

		r->dead_lookups = l->next;
		free(l->stream);
		free(l);
	}
}

void lookup_servers(struct relay *r, const char *text)
{
	resolv_read(text, &r->resolv);
	r->n_cached = 0;
}
