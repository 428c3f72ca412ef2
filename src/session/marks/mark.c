/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/num.h"
#include "session/freeze.h"
#include "session/git/own_branch.h"
#include "session/gone.h"
#include "session/layers.h"
#include "session/marks/copied.h"
#include "session/open.h"
#include "session/session.h"
#include "session/state.h"
#include "session/told.h"
#include "sys/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Marks: names for states of a session. */

/* Names that the user did not give: m1, m2 and so on. */
#define AUTO_MARKS (2 * RECORD_LAYERS_MAX)

/* And those of turns: turn-1, turn-2 and so on. */
#define TURN "turn-"

static bool has_mark(const struct hb_session *s, uint64_t done,
		     const char *mark)
{
	for (size_t i = 0; i < s->record.n_layers; i++)
		if (layer_is_there(&s->record.layers[i], done) &&
		    strcmp(s->record.layers[i].mark, mark) == 0)
			return true;
	return false;
}

static int choose_mark(const struct hb_session *s, const char *name,
		       char ret[RECORD_NAME_MAX + 1], struct hb_error *err)
{
	uint64_t done = 0;
	int r;

	r = session_last_done(s, &done, err);
	if (r >= 0 && name)
		r = record_check_name("mark", name, err);
	if (r < 0)
		return r;
	(void)snprintf(ret, RECORD_NAME_MAX + 1, "%s", name ? name : "");
	for (int i = 1; !name && i <= AUTO_MARKS; i++) {
		(void)snprintf(ret, RECORD_NAME_MAX + 1, "m%d", i);
		if (!has_mark(s, done, ret))
			return 0;
	}
	if (!has_mark(s, done, ret))
		return 0;
	hb_fix(err, "holdback mark @%s, which chooses a name", s->record.name);
	return hb_fail(err, -HB_E_STATE, "session '%s' has a mark '%s' already",
		       s->record.name, ret);
}

static int make_mark(struct hb_session *session, const char *name,
		     enum copied_class class, const char **ret_name,
		     struct hb_error *err)
{
	char mark[RECORD_NAME_MAX + 1];
	int r;

	r = session_needs_lock(session, err);
	if (r >= 0)
		r = own_branch_need_whole(session, err);
	if (r >= 0)
		r = choose_mark(session, name, mark, err);
	if (r < 0)
		return r;
	r = session_open_resources(session, err);
	if (r >= 0)
		r = gone_check_mark(session, err);
	if (r < 0)
		return r;
	session->record.used = sys_now();
	r = session->box ? session_copy_mark(session, mark, class, err)
			 : session_freeze(session, mark, err);
	session_close_resources(session);
	if (r < 0)
		return r;
	*ret_name = session->record.layers[session->record.n_layers - 1].mark;
	return 0;
}

int hb_session_mark(struct hb_session *session, const char *name,
		    const char **ret_name, struct hb_error *err)
{
	struct hb_error local = { 0 };

	err = err ? err : &local;
	told_begin(session, "mark");
	return told_end(
		session, "mark",
		make_mark(session, name, COPIED_BY_OWNER, ret_name, err), 0,
		err);
}

/* Behind all turns so far: a name is not given to two of them. */
static int name_turn(const struct hb_session *s, char ret[RECORD_NAME_MAX + 1],
		     struct hb_error *err)
{
	uint64_t done = 0;
	int64_t last = 0;
	int r = session_last_done(s, &done, err);

	for (size_t i = 0; i < s->record.n_layers; i++) {
		const struct record_layer *layer = &s->record.layers[i];
		int64_t n = 0;

		if (layer->is_turn &&
		    num_int(layer->mark + strlen(TURN), 1, INT32_MAX, &n) >=
			    0 &&
		    n > last)
			last = n;
	}
	/* A person may have taken some. */
	do
		(void)snprintf(ret, RECORD_NAME_MAX + 1, TURN "%" PRId64,
			       ++last);
	while (has_mark(s, done, ret));
	return r;
}

int hb_session_mark_turn(struct hb_session *s, const char **ret_name,
			 struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1];
	struct hb_error local = { 0 };
	int r;

	err = err ? err : &local;
	if (!s->box)
		return hb_fail(err, -HB_E_BUSY, "the session has ended");
	r = name_turn(s, name, err);
	if (r < 0)
		return r;
	told_begin(s, "mark");
	return told_end(s, "mark",
			make_mark(s, name, COPIED_BY_TURN, ret_name, err), 0,
			err);
}

int hb_session_marks(struct hb_session *session, hb_mark_fn fn, void *ctx,
		     struct hb_error *err)
{
	uint64_t done = 0;
	int r = 0;

	if (session->record.n_layers > 0)
		r = session_last_done(session, &done, err);
	for (size_t i = 0; r >= 0 && i < session->record.n_layers; i++) {
		const struct record_layer *layer = &session->record.layers[i];
		const struct hb_mark mark = { .name = layer->mark,
					      .time = layer->frozen };

		if (layer->mark[0] != '\0' && layer_is_there(layer, done))
			r = fn(ctx, &mark, err);
	}
	return r < 0 ? r : 0;
}
