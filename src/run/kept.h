/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_KEPT_H
#define HB_RUN_KEPT_H

#include <stdbool.h>

struct hb_error;
struct hb_session;
struct hb_store;
struct mounted;
struct run;
struct run_session;
struct session_record;

/*
 * Runs whose changes are kept in a session.
 */

/*
 * Makes the session of a run that was prepared without one.  It has the name
 * that was asked for, or the command's with a number behind it.  Its record has
 * the settings of the run, so that a later command in it gets the same view.
 * With `trusts_trials` an overlay that worked before is not tried again.  The
 * session is open and locked, and the caller's to free.
 */
int kept_make(struct run *run, struct hb_store *store, bool trusts_trials,
	      struct hb_session **ret_session, struct hb_error *err);

/*
 * The session as run_prepare() needs it; opens its resources.  `ret` borrows.
 * -HB_E_STATE: the project that `run` made it for is not there any more.
 */
int kept_describe(struct hb_session *session, struct run_session *ret,
		  struct hb_error *err);

/*
 * Before run_plan(): prepares `m`, which has its session, and gives the run's
 * resources their layers.
 */
int kept_lay(struct run *run, struct mounted *m, struct hb_error *err);

/*
 * What the record of a new session says of its directories and of its view, as
 * the run that is prepared has them.
 */
int kept_fill(const struct run *run, const struct hb_store *store,
	      struct session_record *record, struct hb_error *err);

#endif
