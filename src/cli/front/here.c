/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/here.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_used(const void *a, const void *b)
{
	const struct here_session *x = a, *y = b;

	if (x->used != y->used)
		return x->used > y->used ? -1 : 1;
	return (x->used_nsec < y->used_nsec) - (x->used_nsec > y->used_nsec);
}

/* Where the next one goes: if there is no room, in the place of the oldest. */
static struct here_session *find_room(struct here *here)
{
	struct here_session *oldest = here->sessions;

	if (here->n < HERE_MAX)
		return &here->sessions[here->n++];
	for (size_t i = 1; i < HERE_MAX; i++)
		if (compare_used(&here->sessions[i], oldest) > 0)
			oldest = &here->sessions[i];
	return oldest;
}

static int keep_here(void *ctx, const struct hb_session_info *info,
		     struct hb_error *err)
{
	struct here *here = ctx;
	struct here_session session = { .used = info->used,
					.used_nsec = info->used_nsec,
					.state = info->state },
			    *room;

	(void)err;
	if (!hb_session_is_here(info))
		return 0;
	(void)snprintf(session.name, sizeof(session.name), "%s", info->name);
	(void)snprintf(session.profile, sizeof(session.profile), "%s",
		       info->profile);
	room = find_room(here);
	if (!room->name[0] || compare_used(&session, room) < 0)
		*room = session;
	return 0;
}

int here_find(struct hb_store *store, struct here **ret, struct hb_error *err)
{
	struct here *here = calloc(1, sizeof(*here));
	int r;

	if (!here)
		return hb_fail(err, -ENOMEM, "cannot list the sessions");
	r = hb_store_list_here(store, HERE_MAX, keep_here, here, err);
	if (r < 0) {
		free(here);
		return r;
	}
	qsort(here->sessions, here->n, sizeof(here->sessions[0]), compare_used);
	*ret = here;
	return 0;
}

static bool is_free(enum hb_state state)
{
	return state == HB_STATE_IDLE || state == HB_STATE_CRASHED;
}

bool here_is_free(const struct here_session *session)
{
	return is_free(session->state);
}

static int stop_at_free(void *ctx, const struct hb_session_info *info,
			struct hb_error *err)
{
	bool *has_free = ctx;

	(void)err;
	*has_free = is_free(info->state) && hb_session_is_here(info);
	return *has_free ? -ECANCELED : 0;
}

bool here_has_free(struct hb_store *store)
{
	bool has_free = false;

	(void)hb_store_list_here(store, HERE_MAX, stop_at_free, &has_free,
				 NULL);
	return has_free;
}
