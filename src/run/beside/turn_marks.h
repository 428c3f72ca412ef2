/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_TURN_MARKS_H
#define HB_RUN_TURN_MARKS_H

struct hb_error;
struct hb_session;
struct mounted;
struct run;

/*
 * Marks that a command asks for from inside, at the end of a turn.  Here are
 * the socket, in the session's directory, and the work in a process of its own.
 * box/turns.h has the rest.
 */

/*
 * If the run was asked to have them: makes the socket and shows it inside, with
 * our program.  A box that has ended leaves its socket behind, and the next
 * removes it.
 */
int turn_marks_open(struct run *run, struct mounted *m, struct hb_error *err);

/* Of type plan->turn; the context is a struct mounted. */
int turn_marks_make(void *mounted);

#endif
