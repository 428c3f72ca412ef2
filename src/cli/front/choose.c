/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/choose.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/front/depth.h"
#include "cli/front/here.h"
#include "cli/show/say.h"
#include "holdback/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which sessions are meant, in the words of the refusal. */
static const char *const have[] = {
	[CHOOSE_BY_PENDING] = "have changes",
	[CHOOSE_BY_PAST] = "have changes, pending or committed,",
	[CHOOSE_BY_LIVE] = "have changes or run",
};

/* Whether a command would have something to change in it. */
static bool counts(const struct here_session *session,
		   const struct depth *depth, enum choose_by by)
{
	return depth->has_changes ||
	       (by == CHOOSE_BY_PAST && depth->has_past) ||
	       (by == CHOOSE_BY_LIVE && session->state == HB_STATE_LIVE);
}

int choose_only(struct hb_store *store, const char *command, enum choose_by by,
		struct hb_error *err)
{
	auto_free struct here *here = NULL;
	auto_buf struct buf list = BUF_INIT(4096);
	const char *first = NULL;
	struct depth depth;
	size_t n = 0;

	/* Opening the session used last gives a better error. */
	if (here_find(store, &here, NULL) < 0)
		return 0;
	for (size_t i = 0; here->n > 1 && i < here->n; i++) {
		depth_look(store, here->sessions[i].name, HB_OPEN_LOOK, &depth);
		if (!counts(&here->sessions[i], &depth, by))
			continue;
		(void)buf_add_fmt(&list, "%s@%s", n > 0 ? ", " : "",
				  here->sessions[i].name);
		first = n++ == 0 ? here->sessions[i].name : first;
	}
	if (n < 2)
		return 0;
	hb_fix(err, "name the session: holdback %s @%s", command, first);
	return hb_fail(err, -HB_E_USAGE,
		       "%zu sessions %s in this directory: %.400s", n, have[by],
		       buf_str(&list));
}

int choose_said(struct hb_store *store, const char *name, struct hb_error *err)
{
	auto_free struct here *here = NULL;
	char line[HB_TEXT_SIZE];

	if (here_find(store, &here, err) < 0 || here->n < 2)
		return 0;
	(void)snprintf(line, sizeof(line),
		       "this is session %s, the last one used of %zu that have "
		       "this directory in them (holdback ls)",
		       name, here->n);
	cli_say(line);
	return 0;
}
