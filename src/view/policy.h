/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_POLICY_H
#define HB_VIEW_POLICY_H

struct hb_error;
struct hb_run_options;
struct run;
struct session_record;
struct settings;

/*
 * The settings of a session's boxes, as the run that made it was told.  The
 * record has the profile's name and every value that is not compiled in, with
 * paths made absolute.  Files that change later change nothing for it.
 */

/* Adds the effective settings of a run to the record of its new session. */
int policy_record(const struct run *run, struct session_record *record,
		  struct hb_error *err);

/*
 * The settings as recorded, and over them the options of this call.  Strings
 * of both are borrowed.
 */
int policy_load(const struct session_record *record,
		const struct hb_run_options *options, struct settings *s,
		struct hb_error *err);

#endif
