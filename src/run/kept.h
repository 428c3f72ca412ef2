/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_KEPT_H
#define HB_RUN_KEPT_H

#include <stdbool.h>

struct box_result;
struct hb_error;
struct hb_session;
struct hb_store;
struct run;
struct run_session;
struct session_record;

/*
 * Runs whose changes are kept in a session.
 */

/*
 * Makes the session of a run that was prepared without one: of the name that
 * was asked for, or of the command's with a number behind it.  Its record has
 * what the run is told, so that whoever goes on in it gets the same view.  With
 * `trusts_trials` an overlay that worked before is not tried again.  The
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
 * The box of a prepared run over the session, which has its lock: gives the
 * run's resources their layers, makes the plan, tells `start` and runs it.
 * Afterwards the session is idle, or gone if it may be and holds nothing.
 */
struct kept_box {
	struct run *run;
	struct hb_session *session;
	void (*start)(struct kept_box *box); /* may be NULL */
	int (*explain)(const struct run *run, int r, struct hb_error *err);
	bool may_drop;	 /* in: a session that holds nothing may be dropped */
	bool is_dropped; /* out */
};
int kept_run(struct kept_box *box, struct box_result *ret_result,
	     struct hb_error *err);

/*
 * hb_session_exec() without a word about the end.
 */
int kept_exec(struct hb_session *session, char *const *argv, char *const *envp,
	      const char *tty, struct box_result *ret_result,
	      struct hb_error *err);

/*
 * What the record of a new session says of its directories and of its view, as
 * the run that is prepared has them.
 */
int kept_fill(const struct run *run, const struct hb_store *store,
	      struct session_record *record, struct hb_error *err);

#endif
