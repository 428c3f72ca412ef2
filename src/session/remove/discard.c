/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "session/interruption.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/remove/empty.h"
#include "session/session.h"
#include "session/state.h"
#include "session/strategy/shown.h"
#include "sys/place.h"

#include <errno.h>

int hb_session_empty(struct hb_session *session, struct hb_error *err)
{
	size_t n_layers = 0;
	int r;

	r = session_needs_lock(session, err);
	if (r >= 0)
		r = session_count_layers(session, &n_layers, err);
	if (r < 0)
		return r;
	if (session_has_journal(session))
		return session_fail_interrupted(session, err);
	if (n_layers > 0)
		return hb_fail(
			err, -ENOSPC,
			"marked changes cannot be discarded without room");
	/* It would be carried to the layer again. */
	if (session->record.state == SESSION_ACTIVE && shown_has_trees(session))
		return hb_fail(
			err, -ENOSPC,
			"changes in a copy cannot be discarded without room");
	session_close_resources(session);
	r = session_finish_emptying(session, err);
	if (r < 0)
		return r;
	/* There is room now, and if not, it is done all the same. */
	if (session->record.state == SESSION_ACTIVE)
		(void)session_end(session, NULL);
	session->record.has_lost = false;
	session->record.is_unsynced = false;
	session->record.used = sys_now();
	(void)session_save(session, NULL);
	return 0;
}
