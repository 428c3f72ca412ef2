/* SPDX-License-Identifier: Apache-2.0 */
#include "session/gone.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/remove/cleanup.h"
#include "session/session.h"
#include "session/state.h"

#include <stdint.h>

int hb_session_forget(struct hb_session *session,
		      const struct hb_changes *changes, struct hb_error *err)
{
	const struct hb_summary *s = hb_changes_summary(changes);
	uint64_t last = 0;
	int r;

	if (!session->record.is_passing || session->record.n_layers > 0 ||
	    s->n_files || s->n_directories || s->n_git || s->n_times ||
	    s->n_ignored || s->n_ignored_directories)
		return 0;
	r = session_needs_lock(session, err);
	if (r >= 0)
		r = session_open_resources(session, err);
	if (r >= 0)
		r = session_last_done(session, &last, err);
	if (r < 0 || last > 0 || session_has_gone(session))
		return r < 0 ? r : 0;
	r = session_drop(session, err);
	return r < 0 ? r : 1;
}
