/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay_state.h"
#include "sys/file.h"
#include "sys/sock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bytes are copied through one buffer that all connections share.  Bytes that
 * the other side does not take at once are kept with the connection.  No more
 * is read until they have gone.  splice() was no faster, and takes four
 * descriptors more.
 */

/*
 * Kept for all connections; beyond it less is read at a time.  With 4096
 * connections both ways that stays below the limit of net/fence.c.
 */
#define KEPT_MUCH  ((size_t)64 << 20)
#define CHUNK_LESS ((size_t)16 << 10)

/* Of one connection, before it is the turn of others. */
#define BUDGET ((size_t)1 << 20)

struct conn *conn_new(struct relay *r, int fd)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c) {
		sys_close(fd);
		return NULL;
	}
	c->in = (struct source){ .fd = fd, .owner = c };
	c->out = c->rival = (struct source){ .fd = -1, .owner = c };
	c->up = (struct flow){ .from = &c->in, .to = &c->out };
	c->down = (struct flow){ .from = &c->out, .to = &c->in };
	c->id = ++r->n_ids;
	c->began = r->now;
	c->next = r->conns;
	c->back = &r->conns;
	if (c->next)
		c->next->back = &c->next;
	r->conns = c;
	if (++r->n_conns >= r->start->most)
		relay_listen(r, false);
	return c;
}

void conn_due(struct relay *r, struct conn *c, int64_t ms)
{
	c->due = ms ? r->now + ms : 0;
	if (c->due)
		relay_due(r, c->due);
}

static void forget(struct relay *r, struct flow *f)
{
	free(f->kept);
	f->kept = NULL;
	r->n_kept -= f->n_kept;
	f->n_kept = 0;
}

void conn_free(struct relay *r, struct conn *c)
{
	forget(r, &c->up);
	forget(r, &c->down);
	free(c->question);
	free(c);
}

/* Its memory goes when nothing of this round can point to it. */
void conn_end(struct relay *r, struct conn *c, bool is_reset)
{
	struct source *all[] = { &c->in, &c->out, &c->rival };

	if (c->state == CONN_DEAD)
		return;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i]->fd >= 0 && is_reset)
			sys_inet_reset_on_close(all[i]->fd);
		relay_drop(all[i]);
	}
	*c->back = c->next;
	if (c->next)
		c->next->back = c->back;
	c->state = CONN_DEAD;
	c->next = r->dead;
	r->dead = c;
	r->n_conns--;
	if (r->is_full && r->n_conns < r->start->most)
		relay_listen(r, true);
}

/* Those that could not be written; false: there is no memory. */
static bool keep(struct relay *r, struct flow *f, const char *from, size_t n)
{
	f->kept = malloc(n);
	if (!f->kept)
		return false;
	f->n_kept = n;
	r->n_kept += n;
	memcpy(f->kept, from, n);
	f->offset = 0;
	return true;
}

/* Reads, if nothing is left from before; 0: there is nothing to read now. */
static ssize_t fill(struct relay *r, struct flow *f)
{
	ssize_t n;

	if (f->left > 0)
		return (ssize_t)f->left;
	if (f->has_ended)
		return 0;
	n = sys_inet_recv(f->from->fd, r->buffer,
			  r->n_kept < KEPT_MUCH ? RELAY_CHUNK : CHUNK_LESS);
	if (n == -EAGAIN)
		return 0;
	if (n == 0)
		f->has_ended = true;
	if (n > 0)
		f->left = (size_t)n;
	return n;
}

/* False: the connection is no more. */
static bool pump(struct relay *r, struct flow *f, const struct flow *other)
{
	size_t done = 0;
	ssize_t n;

	while (done < BUDGET) {
		const char *from;

		n = fill(r, f);
		if (n < 0)
			return false;
		if (n == 0)
			break;
		from = f->kept ? f->kept + f->offset : r->buffer;
		n = sys_inet_send(f->to->fd, from, f->left);
		if (n < 0 && n != -EAGAIN)
			return false;
		n = n < 0 ? 0 : n;
		f->left -= (size_t)n;
		f->n_bytes += (size_t)n;
		done += (size_t)n;
		if (f->kept)
			f->offset += (size_t)n;
		else if (f->left > 0 && !keep(r, f, from + n, f->left))
			return false;
		if (f->left > 0)
			break;
		forget(r, f);
		/* Of more, and of an end, we are told. */
		if ((size_t)n < RELAY_CHUNK)
			break;
	}
	/* A half that is closed is closed on the other side, no more. */
	if (f->has_ended && f->left == 0 && !f->is_shut) {
		f->is_shut = true;
		if (!other->is_shut) /* else both are closed now */
			sys_hang_up(f->to->fd);
	}
	return true;
}

static bool wants_more(const struct flow *f)
{
	return !f->has_ended && f->left == 0;
}

static void set_events(struct relay *r, struct conn *c)
{
	uint32_t in = 0, out = 0;

	if (wants_more(&c->up)) /* also while it is held: to be looked at */
		in |= SYS_EVENT_IN;
	if (wants_more(&c->down))
		out |= SYS_EVENT_IN;
	if (c->up.left > 0)
		out |= SYS_EVENT_OUT;
	if (c->down.left > 0)
		in |= SYS_EVENT_OUT;
	relay_watch(r, &c->in, in);
	relay_watch(r, &c->out, out);
}

/* Whether this half can have bytes to move: a read or a write was ready. */
static bool is_due(const struct flow *f, const struct source *ready,
		   uint32_t events)
{
	if (!ready || events & (SYS_EVENT_ERR | SYS_EVENT_HUP))
		return true;
	return (ready == f->from && events & SYS_EVENT_IN) ||
	       (ready == f->to && events & SYS_EVENT_OUT);
}

void conn_relay(struct relay *r, struct conn *c, const struct source *ready,
		uint32_t events)
{
	bool is_alive = true;

	if (!c->is_held && is_due(&c->up, ready, events))
		is_alive = pump(r, &c->up, &c->down);
	if (is_alive && is_due(&c->down, ready, events))
		is_alive = pump(r, &c->down, &c->up);
	if (is_alive && !(c->up.is_shut && c->down.is_shut)) {
		set_events(r, c);
		return;
	}
	if (!is_alive)
		memcpy(c->cause, "reset", sizeof("reset"));
	relay_note(r, c, NET_VERDICT_END);
	conn_end(r, c, !is_alive);
}
