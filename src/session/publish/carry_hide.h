/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_CARRY_HIDE_H
#define HB_SESSION_PUBLISH_CARRY_HIDE_H

struct carry_note;
struct hb_error;
struct hb_session;

/*
 * Data of an agent that its profile does not share is carried, and the host's
 * is not shown: it may be about other projects.  The upper layers have marks of
 * an overlay in its place while a box runs.
 *
 * (a) A mark never outlives the box, for as a change it would be a deletion.
 *     Where the state cannot be settled all marks of the state go.
 * (b) The files of class `runs` below such a place are the host's, copied.
 *
 * tests/unit/t_carry.c holds (a), tests/cli/carry.sh both.
 */

/* After carry_fill() has put there what is carried. */
int carry_hide(struct hb_session *s, struct carry_note *note,
	       struct hb_error *err);

/* Removes every mark from the state directories' upper layers. */
int carry_drop_marks(struct hb_session *s, struct hb_error *err);

#endif
