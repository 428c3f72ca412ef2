/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each resolver that a program of the box asks is the stub, over datagrams or a
 * stream.  It asks no other.
 */

/* At a time, before it is the turn of others. */
#define DATAGRAMS 64
#define LENGTH	  2

static struct dns_stub stub_of(struct relay *r)
{
	return (struct dns_stub){ &r->pool, r->rules, r->n_rules };
}

void stub_hear(struct relay *r, struct source *s, uint32_t events)
{
	struct dns_stub stub = stub_of(r);
	unsigned char in[DNS_MESSAGE], out[DNS_MESSAGE];
	struct sys_datagram about;

	(void)events;
	for (int i = 0; i < DATAGRAMS; i++) {
		ssize_t n = sys_inet_hear(s->fd, in, sizeof(in), &about);
		size_t size;

		if (n == -EAGAIN)
			return;
		if (n < 0)
			continue;
		size = dns_answer(&stub, in, (size_t)n, out);
		/* From the address that was asked: all of them are ours. */
		if (size > 0)
			(void)sys_inet_answer(s->fd, out, size, &about);
	}
}

/* False: the connection is over. */
static bool answer_whole(struct relay *r, struct conn *c)
{
	struct dns_stub stub = stub_of(r);
	unsigned char out[LENGTH + DNS_MESSAGE];
	size_t size = (size_t)c->question[0] << 8 | c->question[1], n;

	if (size > DNS_MESSAGE)
		return false;
	if (c->n_question < LENGTH + size)
		return true;
	n = dns_answer(&stub, c->question + LENGTH, size, out + LENGTH);
	out[0] = (unsigned char)(n >> 8);
	out[1] = (unsigned char)n;
	if (n == 0 ||
	    sys_inet_send(c->in.fd, out, LENGTH + n) != (ssize_t)(LENGTH + n))
		return false;
	c->n_question -= LENGTH + size;
	memmove(c->question, c->question + LENGTH + size, c->n_question);
	return true;
}

void stub_stream(struct relay *r, struct source *s, uint32_t events)
{
	struct conn *c = s->owner;
	size_t before;
	ssize_t n;

	(void)events;
	if (!c->question)
		c->question = malloc(LENGTH + DNS_MESSAGE);
	if (!c->question) {
		conn_end(r, c, true);
		return;
	}
	n = sys_inet_recv(s->fd, c->question + c->n_question,
			  LENGTH + DNS_MESSAGE - c->n_question);
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		conn_end(r, c, n < 0);
		return;
	}
	c->n_question += (size_t)n;
	conn_due(r, c, RELAY_GREETING_MS);
	do {
		before = c->n_question;
		if (before >= LENGTH && !answer_whole(r, c)) {
			conn_end(r, c, true);
			return;
		}
	} while (c->n_question < before);
}
