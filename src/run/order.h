/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_ORDER_H
#define HB_RUN_ORDER_H

struct hb_error;
struct hb_listener;
struct run;

/* The words of a command, for the log; NULL: a box is held open without one. */
void order_tell_words(const struct hb_listener *listener, const char *session,
		      const char *source, char *const *words);

/*
 * What a run was told, for the log: the command, and the settings that are not
 * built in.  A run that is to have no record is told from then on to nothing
 * but the caller's listener.
 */
void order_tell(const struct run *run, const char *session);

/*
 * Opens the file that the settings name for the records of the run.
 * -HB_E_USAGE: the command could write it.  -HB_E_CONFIG: others could.
 */
int order_open_log(const struct run *run, struct hb_error *err);

#endif
