/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_MOUNTED_H
#define HB_RUN_MOUNTED_H

#include <stdbool.h>
#include <stddef.h>

struct box_result;
struct hb_error;
struct hb_session;
struct plan;

/*
 * A box over the layers of a session: what it mounts, and what has to be done
 * before and after it.
 *
 *	mounted_prepare()	what the view needs to know
 *	...			the caller makes the plan
 *	mounted_run()		the box
 *	mounted_done()		in any case
 */
struct ladder;

/* A directory that is held back. */
struct view_overlay {
	const char *source; /* the real one */
	const char *inside;
	const char *const *layers; /* frozen ones, the lowest first */
	size_t n_layers;
	const char *upper, *work;
	const char *tree; /* NULL; or what is shown instead, and written to */
};

/* Something of the host's that is shown as it is, read-only. */
struct view_held {
	const char *source, *inside;
};

struct mounted {
	struct hb_session *session;    /* borrowed, with its lock */
	struct plan *plan;	       /* borrowed; keeps the strings below */
	struct view_overlay *overlays; /* by resource that is there */
	size_t n_overlays;
	const char **hidden; /* places of ours that a resource would show */
	size_t n_hidden;
	struct view_held *held; /* what a copy leaves out */
	size_t n_held;

	struct ladder *ladder; /* borrowed; its listener is set here */
	bool may_drop;	 /* in: a session that turns out void is dropped */
	bool is_dropped; /* out */

	/* Private. */
	char ***layers;		   /* by resource, the paths of frozen ones */
	struct plan_place *places; /* by resource */
	int runtime;		   /* live.h */
};

/* `m` has session, plan, ladder and may_drop, and nothing else. */
int mounted_prepare(struct mounted *m, struct hb_error *err);

/*
 * Runs the plan's command with the environment `envp`.  Afterwards the session
 * is idle and its changes are on disk; where that failed the session says so
 * itself, for the command has ended and its status counts.  On failure nothing
 * ran; that also makes a session void.
 */
int mounted_run(struct mounted *m, char *const *envp,
		struct box_result *ret_result, struct hb_error *err);
void mounted_done(struct mounted *m);

#endif
