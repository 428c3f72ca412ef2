/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/sweep.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/depth.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct swept {
	char name[HB_SESSION_NAME_SIZE];
	struct depth depth;
};

struct sweep {
	const struct cli_values *values;
	struct hb_store *store;
	struct swept *list;
	size_t n, n_live;
};

bool sweep_is_meant(const struct cli_values *values)
{
	return values->all || values->committed || values->older > 0;
}

static bool is_old(const struct sweep *sweep,
		   const struct hb_session_info *info)
{
	return info->used <=
	       (int64_t)time(NULL) - (int64_t)sweep->values->older;
}

static int choose_one(void *ctx, const struct hb_session_info *info,
		      struct hb_error *err)
{
	struct sweep *sweep = ctx;
	struct swept swept = { 0 };

	if (!is_old(sweep, info) || info->state == HB_STATE_UNREADABLE)
		return 0;
	depth_look(sweep->store, info->name, HB_OPEN_GLANCE, &swept.depth);
	if (sweep->values->committed && swept.depth.has_changes)
		return 0;
	if (info->state == HB_STATE_LIVE || info->state == HB_STATE_BUSY) {
		sweep->n_live++;
		return 0;
	}
	if (grow(sweep->list, sweep->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot list the sessions");
	(void)snprintf(swept.name, sizeof(swept.name), "%s", info->name);
	sweep->list[sweep->n++] = swept;
	return 0;
}

static void name_all(const struct sweep *sweep)
{
	char line[HB_TEXT_SIZE];

	for (size_t i = 0; i < sweep->n; i++) {
		const struct swept *s = &sweep->list[i];

		if (!s->depth.is_known)
			(void)snprintf(
				line, sizeof(line),
				"session %s, whose changes cannot be read",
				s->name);
		else if (!s->depth.has_changes)
			(void)snprintf(line, sizeof(line),
				       "session %s, with nothing pending",
				       s->name);
		else
			(void)snprintf(
				line, sizeof(line),
				"session %s, with %llu pending change%s that %s lost",
				s->name, (unsigned long long)s->depth.n_changes,
				s->depth.n_changes == 1 ? "" : "s",
				s->depth.n_changes == 1 ? "is" : "are");
		cli_say(line);
	}
	if (sweep->n_live > 0) {
		(void)snprintf(
			line, sizeof(line),
			"%zu session%s in use: they stay (holdback stop)",
			sweep->n_live, sweep->n_live == 1 ? " is" : "s are");
		cli_say(line);
	}
}

/* The first failure ends it: the sessions before it are removed. */
static int remove_all(const struct sweep *sweep, uint64_t *ret_n,
		      struct hb_error *err)
{
	for (size_t i = 0; i < sweep->n; i++) {
		char ref[HB_SESSION_NAME_SIZE + 1];
		struct hb_session *session = NULL;
		int r;

		(void)snprintf(ref, sizeof(ref), "@%s", sweep->list[i].name);
		r = hb_session_open(sweep->store, ref, HB_OPEN_REMOVE, &session,
				    err);
		if (r >= 0)
			r = hb_session_cleanup(session, err);
		hb_session_free(session);
		if (r < 0)
			return r;
		++*ret_n;
	}
	return 0;
}

int sweep_report(const struct cmd_call *call, uint64_t n, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };

	doc_begin(&doc, call->values->json, "cleanup");
	if (doc.is_json)
		doc_uint(&doc, "removed", n);
	else
		(void)buf_add_fmt(&doc.out, "removed %llu\n",
				  (unsigned long long)n);
	return doc_end(&doc, err);
}

int sweep_sessions(const struct cmd_call *call, struct hb_error *err)
{
	struct sweep sweep = { .values = call->values };
	uint64_t n = 0;
	int r;

	r = cmd_open_store(call, false, &sweep.store, err);
	if (r >= 0)
		r = hb_store_list(sweep.store, choose_one, &sweep, err);
	if (r >= 0)
		name_all(&sweep);
	if (r >= 0 && sweep.n > 0)
		r = cmd_ask(call, "remove them, with their undo?", err);
	if (r > 0)
		r = remove_all(&sweep, &n, err);
	hb_store_free(sweep.store);
	free(sweep.list);
	return r < 0 ? r : sweep_report(call, n, err);
}
