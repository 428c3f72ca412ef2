/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_MARKS_COPIED_H
#define HB_SESSION_MARKS_COPIED_H

#include "store/record.h"

struct hb_error;
struct hb_session;

/*
 * Layers that are copies of the uppers of a live session, as they were at one
 * moment, with all marks and whiteouts.  The session was lent to us (run).  The
 * uppers are only read.  The box is still meanwhile, and goes on before this
 * returns.
 *
 * A copy is only ever a lower layer: docs/decisions/0051.
 */

/*
 * The two classes of such marks: by a person, and by a command in the box,
 * whose marks cost no other.
 */
enum copied_class {
	COPIED_BY_OWNER,
	COPIED_BY_TURN,
	COPIED_CLASSES
};

/*
 * Makes such a layer, durably, which no record names yet: with the family's
 * lock, and the resources open.  -HB_E_BUSY: the box cannot be kept still, or
 * its changes are not in the upper; -HB_E_STATE: they are too many.  What a
 * failure leaves layers_collect() removes.
 */
int session_copy_upper(struct hb_session *s, enum copied_class class,
		       char ret_id[RECORD_ID_SIZE], struct hb_error *err);

/*
 * The same, as a mark of the session; resources as after session_freeze().  Of
 * turns the oldest go where there are too many, but those that were gone back
 * to.
 */
int session_copy_mark(struct hb_session *s, const char *mark,
		      enum copied_class class, struct hb_error *err);

#endif
