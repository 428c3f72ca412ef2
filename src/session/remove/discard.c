/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "session/interruption.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/remove/empty.h"
#include "session/session.h"
#include "session/state.h"
#include "session/told.h"
#include "store/family.h"
#include "sys/place.h"

#include <errno.h>

static int choose(const struct hb_session *s, const char *mark,
		  struct emptying *ret, struct hb_error *err)
{
	size_t number = 0;
	int r;

	if (!mark) {
		session_choose_empty(NULL, ret);
		return 0;
	}
	if (s->record.is_freezing)
		return hb_fail(err, -ENOSPC,
			       "a mark was interrupted, and its end needs "
			       "room");
	r = session_find_mark(s, mark, &number, err);
	if (r < 0)
		return r;
	session_choose_empty(s->record.layers[number].id, ret);
	return 0;
}

static int empty(struct hb_session *session, const char *mark,
		 struct hb_error *err)
{
	struct layers_freed freed = { 0 };
	struct emptying e = { 0 };
	int r;

	r = session_needs_lock(session, err);
	if (r < 0)
		return r;
	if (session_has_journal(session))
		return session_fail_interrupted(session, err);
	r = choose(session, mark, &e, err);
	if (r < 0)
		return r;
	session_close_resources(session);
	r = session_empty(session, &e, err);
	if (r < 0)
		return r;
	/* There is room now, and if not, it is done all the same. */
	if (session->record.state == SESSION_ACTIVE)
		(void)session_end(session, NULL);
	if (!mark)
		session->record.has_lost = false;
	session->record.is_unsynced = false;
	session->record.used = sys_now();
	(void)session_save(session, NULL);
	if (session->record.family[0])
		(void)layers_collect(session->store, session->record.family,
				     false, &freed, NULL);
	return 0;
}

int hb_session_empty(struct hb_session *session, const char *mark,
		     struct hb_error *err)
{
	struct hb_error local = { 0 };

	err = err ? err : &local;
	told_begin(session, "rollback");
	return told_end(session, "rollback", empty(session, mark, err), 0, err);
}
