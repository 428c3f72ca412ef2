/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_TOLD_OUTSIDE_H
#define HB_RUN_TOLD_OUTSIDE_H

#include "holdback/holdback.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct hb_error;
struct run;

/*
 * Whether a run in memory left the real directories as they were.  An object
 * whose change time is not before the start is told.  Its author is not known.
 * Directories whose writes are real by a setting are left out.
 */
struct outside {
	struct outside_place *places; /* NULL: not asked for */
	size_t n_places;
	bool is_looked; /* `verified` has the figures */
	struct hb_verified verified;
};

/* Notes the time before the command.  outside_done() also takes zero. */
int outside_begin(struct outside *o, const struct run *run,
		  struct hb_error *err);

/*
 * Looks, after the command has ended, and tells the listener of the run.  Does
 * nothing if outside_begin() was not called.  A directory that cannot be looked
 * through is told, and counts as unread.
 */
void outside_look(struct outside *o, const struct run *run);
void outside_done(struct outside *o);

#endif
