/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_MOUNTED_H
#define HB_RUN_MOUNTED_H

#include "holdback/report.h"
#include "run/beside/sync_child.h"
#include "run/news.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct view_resource;

/*
 * A box over the layers of a session: what it mounts, and what has to be done
 * before and after it.
 *
 *	mounted_prepare()	what the view needs to know
 *	...			the caller makes the plan
 *	mounted_begin()		what the box needs; the session is active
 *	...			the caller runs the box
 *	mounted_end()		the session is idle again, or gone
 *	mounted_done()		in any case
 */

/* Something of the host's that is shown as it is, read-only. */
struct view_held {
	const char *source, *inside;
};

struct mounted {
	struct hb_session *session; /* borrowed, with its lock */
	struct plan *plan;	    /* borrowed; keeps the strings below */
	/* In: the session's that are there, in its order.  Gets their layers.
	 */
	struct view_resource *resources;
	size_t n_resources;
	const char **hidden; /* places of ours that a resource would show */
	size_t n_hidden;
	struct view_held *held; /* what a copy leaves out */
	size_t n_held;

	struct hb_listener listener; /* out: for the box */
	struct news news;	     /* its context */
	char *const *command; /* in: words for the record; NULL: the plan's */
	bool may_drop;	      /* in: a session that turns out void is dropped */
	bool is_empty;	      /* it seemed so when its box was */
	bool is_closed;	      /* in: no other command can get in */
	bool was_lent;	      /* in, after the box: box_result */
	bool is_dropped;      /* out */
	uint64_t sync; /* in: seconds between two syncs; 0: there are none */

	/* Private. */
	bool has_begun; /* mounted_end() has something to do */
	int door;	/* by which others get into the box; -1 */
	int turns;	/* on which a command asks for marks; -1 */
	struct sync_child syncer;
	char ***layers;		   /* by resource, the paths of frozen ones */
	struct plan_place *places; /* by resource that is there */
	size_t n_places;
	int runtime; /* live.h */
};

#define MOUNTED_INIT                                    \
	(struct mounted)                                \
	{                                               \
		.door = -1, .turns = -1, .runtime = -1, \
		.syncer = SYNC_CHILD_NONE               \
	}

/* `m` has session, plan, resources and may_drop, and nothing else. */
int mounted_prepare(struct mounted *m, struct hb_error *err);

/*
 * Right before the box of the plan, which gets its door.  On failure nothing
 * may run, and mounted_end() is called as after a box.
 */
int mounted_begin(struct mounted *m, struct hb_error *err);

/* Of type ladder_again_fn: before another box in place of a failed one. */
int mounted_renew(void *mounted, struct hb_error *err);

/*
 * After the box: the session is idle and its changes are on disk.  Where that
 * failed and the command has run the session says so itself, for the command's
 * status counts.  Does nothing the second time: a session that seems void ends
 * while the kernel takes its mounts down.
 */
void mounted_end(struct mounted *m, bool has_run);

/*
 * Instead of mounted_end(): the box goes on, and is another process's with the
 * session (box/keeper.h).
 */
void mounted_leave(struct mounted *m);
void mounted_done(struct mounted *m);

#endif
