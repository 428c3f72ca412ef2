/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_LAUNCH_H
#define HB_RUN_LAUNCH_H

#include "box/box.h"
#include "run/ladder.h"
#include "run/mounted.h"
#include "run/net_told.h"
#include "store/record.h"
#include "view/prepare.h"

#include <stdbool.h>

struct hb_error;
struct hb_run_options;
struct hb_session;
struct hb_store;

/*
 * One box over a view, from the caller's options to the end of the command.  It
 * is in memory, on the real directories, or over the layers of a session.
 */
struct launch {
	const struct hb_run_options *options;
	bool is_exec; /* in a session that is there: little is said of it */
	/* NULL: opened once it is needed. */
	struct hb_store *store;
	/* NULL: made, if this run is to have one. */
	struct hb_session *session;
	bool trusts_trials; /* an overlay that worked before is not tried */
	bool may_drop;	    /* a session of a run that holds nothing goes */
	bool is_beginning;  /* it is the box of launch_begin(): untold */
	bool is_inspection; /* it looks at a database: untold as well */

	struct box_result box; /* out, if the command has run */
	bool is_new;	       /* out: `session` was made by this launch */
	bool is_dropped;       /* out: `session` is gone */
	bool is_quiet;	       /* out: what the settings say */
	uint64_t sync;	       /* out: the same, settings_sync() */

	/* Private. */
	bool was_tried;
	struct run_session of;
	struct run run;
	struct ladder ladder;
	struct mounted mounted;
	struct net_told net_told;
	char **envp;
	char staying[RECORD_NAME_MAX * 2 + 128];
};

/*
 * On the heap, as calloc() leaves it: it is large, and most of it is never
 * touched.  NULL: out of memory.  Freed by free().
 */
struct launch *launch_new(const struct hb_run_options *options);

/*
 * Store and session, also those that it opened, stay the caller's.  On failure
 * the command did not run, and a session that was made for it may be gone:
 * then `session` is NULL.  -EAGAIN without words: `options` ask to be quick,
 * and something is to be done before that takes longer.
 */
int launch(struct launch *l, struct hb_error *err);

/*
 * Puts each work tree of the session on a branch of its own that has to be and
 * is not yet.  Needs the lock.  launch() does that before its own box.  After a
 * failure the session has not begun, and this can be repeated.
 */
int launch_begin(struct hb_session *s, char *const *envp, struct hb_error *err);

#endif
