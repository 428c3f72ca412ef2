/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "review/changeset.h"
#include "session/session.h"

#include <errno.h>

#define TRIES 10

/*
 * The failures of a look at a session while a command in it moves names about.
 * A directory is a link by now, or a mark is of the object before.  None of it
 * says anything about the session.
 */
static const int codes[] = { ENOENT,	 ENOTDIR,      ELOOP,	  EISDIR,
			     ENXIO,	 ESTALE,       EEXIST,	  ENODATA,
			     EACCES,	 EPERM,	       HB_E_BUSY, HB_E_CORRUPT,
			     HB_E_STATE, HB_E_CONFLICT };

bool hb_session_is_moving(const struct hb_session *session, int r)
{
	if (session->has_lock || r >= 0)
		return false;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == -r)
			return true;
	return false;
}

int hb_session_fail_moving(const struct hb_session *session,
			   struct hb_error *err)
{
	if (err)
		*err = (struct hb_error){ 0 };
	hb_fix(err, "try again, or: holdback stop @%s", session->record.name);
	return hb_fail(err, -HB_E_BUSY,
		       "session '%s' is live, and its commands change names "
		       "faster than they can be looked at",
		       session->record.name);
}

int hb_session_changes(struct hb_session *session,
		       const struct hb_changes_options *options,
		       struct hb_changes **ret_changes, struct hb_error *err)
{
	int r = session_look_once(session, options, ret_changes, err);

	for (int i = 0; hb_session_is_moving(session, r) && i < TRIES; i++) {
		if (err)
			*err = (struct hb_error){ 0 };
		r = session_look_once(session, options, ret_changes, err);
	}
	return hb_session_is_moving(session, r)
		       ? hb_session_fail_moving(session, err)
		       : r;
}
