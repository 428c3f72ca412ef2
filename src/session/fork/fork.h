/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_FORK_FORK_H
#define HB_SESSION_FORK_FORK_H

struct hb_error;
struct hb_session;

/*
 * As hb_session_fork() of now, for a check command: the fork's record says so,
 * and gc_remove_checks() finds it if no other process removes it.
 */
int session_fork_for_check(struct hb_session *s, const char *name,
			   struct hb_error *err);

/*
 * A session with the same resources and settings, over the base as it is now,
 * with nothing pending.  Its record says for which session it is, as that of a
 * check does.
 */
int session_make_aside(struct hb_session *s, const char *name,
		       struct hb_error *err);

#endif
