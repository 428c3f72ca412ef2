/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_LADDER_H
#define HB_RUN_LADDER_H

#include <stdbool.h>

struct box_result;
struct hb_listener;
struct hb_error;
struct plan;
struct run;

/*
 * The answer where the host lacks something, each step found out by trying.  It
 * is something else that is as safe, or less with a word about it, or nothing.
 */
enum ladder_rung {
	LADDER_HOST_PROC = 1 << 0,   /* no procfs of its own */
	LADDER_FILTER_ONLY = 1 << 1, /* only the filter keeps userns away */
	LADDER_BARE = 1 << 2,	     /* no namespaces at all */
	LADDER_MOUNTS = 1 << 3,	     /* what has mounts in it is the host's */
	LADDER_SHARED = 1 << 4,	     /* so is all that is shown */
	LADDER_UNHEARD = 1 << 5,     /* no directory can be renamed */
	LADDER_UNRECORDED = 1 << 6,  /* single calls are not in the log */
};

struct ladder {
	unsigned rungs;	  /* enum ladder_rung: those taken */
	bool is_required; /* no other may be */
	/* Hears of those that are taken, and all of the box; or NULL. */
	const struct hb_listener *listener;
};

/* What has to be done before a plan is carried out a second time. */
typedef int (*ladder_again_fn)(void *context, struct hb_error *err);

/*
 * Before a run: whether it has to do without namespaces, which is asked only if
 * it may.  And whether the host lacks anything, if that is forbidden.
 */
int ladder_begin(struct run *run, struct hb_error *err);

/* Reports each thing that the host lacks for this run. */
void ladder_report(const struct run *run);

/*
 * box_run(), and again where the box could not be made for want of something
 * that there is a rung for; `plan` is changed accordingly.  `again`, which may
 * be NULL, is called with `context` before each further try.
 */
int ladder_run(struct ladder *ladder, struct plan *plan, char *const *envp,
	       ladder_again_fn again, void *context,
	       struct box_result *ret_result, struct hb_error *err);

#endif
