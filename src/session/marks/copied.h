/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_MARKS_COPIED_H
#define HB_SESSION_MARKS_COPIED_H

#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>

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
 * Watches a copy while the box is still.  `begin` comes before each try, `one`
 * after each object, `end` after each resource with the top of its copy.
 */
struct tree_visit;
struct entry;
struct copied_watch {
	void (*begin)(void *ctx);
	/* Before it: 1 means that the object is not copied. */
	int (*skip)(void *ctx, size_t resource, const struct tree_visit *visit,
		    const struct entry *entry);
	int (*one)(void *ctx, size_t resource, const struct tree_visit *visit,
		   const struct entry *entry, int copy, struct hb_error *err);
	int (*end)(void *ctx, size_t resource, int top, struct hb_error *err);
	/* It goes on when the caller says so, unless the copy fails. */
	bool stays_still;
	/* Nothing of an agent's state is copied, however large. */
	bool leaves_state;
	void *ctx;
};

/*
 * Makes such a layer, durably, which no record names yet: with the family's
 * lock, and the resources open.  -HB_E_BUSY: the box cannot be kept still, or
 * its changes are not in the upper; -HB_E_STATE: they are too many.  What a
 * failure leaves layers_collect() removes. A `watch` of
 * NULL is that of stripped.h.
 */
int session_copy_upper(struct hb_session *s, enum copied_class class,
		       const struct copied_watch *watch,
		       char ret_id[RECORD_ID_SIZE], struct hb_error *err);

/*
 * The same, as a mark of the session; resources as after session_freeze().  Of
 * turns the oldest go where there are too many, but those that were gone back
 * to.
 */
int session_copy_mark(struct hb_session *s, const char *mark,
		      enum copied_class class, struct hb_error *err);

#endif
