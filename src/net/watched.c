/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay_state.h"
#include "sys/file.h"

/* Descriptors that are waited for, and the next moment that is. */

void relay_due(struct relay *r, int64_t at)
{
	if (r->next_due == 0 || at < r->next_due)
		r->next_due = at;
}

void relay_watch(struct relay *r, struct source *s, uint32_t events)
{
	if (s->fd < 0 || (s->is_added && s->events == events) ||
	    (s->is_over && events == 0))
		return;
	(void)sys_events_watch(r->events, s->fd, events, s, !s->is_added);
	s->is_added = true;
	s->events = events;
}

void relay_drop(struct source *s)
{
	if (s->fd >= 0)
		sys_close(s->fd);
	s->fd = -1;
	s->is_added = s->is_over = false;
}

/* The kernel tells of an end, unasked, again and again.  True: of no more. */
bool relay_hush(struct relay *r, struct source *s, uint32_t events)
{
	if (events != SYS_EVENT_HUP || s->events != 0)
		return false;
	sys_events_forget(r->events, s->fd);
	s->is_added = false;
	s->is_over = true;
	return true;
}

/* Questions about names cost no connection, and are always heard. */
void relay_listen(struct relay *r, bool is_on)
{
	for (size_t i = 0; i < r->n_sockets; i++)
		if (r->sources[i].ready && r->sockets[i].kind != RELAY_NAMES)
			relay_watch(r, &r->sources[i],
				    is_on ? SYS_EVENT_IN : 0);
	r->is_full = !is_on;
	r->full_until = 0;
}
