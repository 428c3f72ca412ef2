/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_STRIPPED_H
#define HB_SESSION_LIVE_STRIPPED_H

#include "session/live/unmark.h"
#include "session/marks/copied.h"

/*
 * A copy of all of a live upper, as a mark or a fork keeps it.  What a sync has
 * marked there is nothing for a layer: in the copy deletions are whiteouts.
 */
struct stripped {
	struct hb_session *session;
	struct unmark marks; /* of the resource at hand */
};

/* Until stripped_done(). */
struct copied_watch stripped_watch(struct stripped *s);
void stripped_done(struct stripped *s);

#endif
