/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_PASSING_H
#define HB_VIEW_PASSING_H

#include <stdbool.h>

struct hb_error;
struct run;
struct setting_item;

/*
 * The state of an agent in a run without a session, by the rows of its profile:
 *
 *	data	the host's is neither seen nor written
 *	runs	the host's is seen, changes are in memory
 *	login	the same
 *
 * All of it is gone at the end.  What is carried for the project is not given
 * to such a run.  tests/cli/ephemeral-state.sh
 */

/* Whether a row is for these; any other is as in a run with a session. */
bool passing_is_row(const struct run *run, const struct setting_item *item);

/* A row `data`; its last component may have a star. */
int passing_find_data(struct run *run, const struct setting_item *item,
		      const char *path, struct hb_error *err);

/* A row `runs`, after those of `data`. */
int passing_find_runs(struct run *run, const struct setting_item *item,
		      const char *path, struct hb_error *err);

#endif
