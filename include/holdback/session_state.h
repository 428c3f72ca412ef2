/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_SESSION_STATE_H
#define HOLDBACK_SESSION_STATE_H

/*
 * The states of a session for a look from outside, one row each: its id, and
 * its name as status and --json say it.
 */
/* clang-format off */
#define HB_STATE_ROWS(ROW) \
	ROW(IDLE, "idle") \
	ROW(LIVE, "live")	/* a command runs in it */ \
	ROW(BUSY, "busy")	/* another command of holdback works on it */ \
	ROW(CRASHED, "crashed")	/* its command was killed */ \
	ROW(BROKEN, "broken")	/* entries were left to the owner: see recover */ \
	ROW(UNREADABLE, "unreadable") /* its record cannot be read */ \
	ROW(ORPHAN, "orphan")	/* all of its directories are gone */ \
	ROW(CHECK, "check")	/* a fork for a check that was cut short */

#define HB_STATE_ID(id, name) HB_STATE_##id,
enum hb_state {
	HB_STATE_ROWS(HB_STATE_ID)
	HB_STATES
};
#undef HB_STATE_ID
/* clang-format on */

const char *hb_state_name(enum hb_state state);

#endif
