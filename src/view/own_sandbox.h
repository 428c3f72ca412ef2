/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_OWN_SANDBOX_H
#define HB_VIEW_OWN_SANDBOX_H

struct hb_error;
struct run;

/*
 * Switches the agent's own sandbox off for this run: run->inner has the words
 * of the command then.  Nothing is done where the command may make namespaces.
 * -HB_E_USAGE if the caller asks for a stricter one than ours.
 */
int own_sandbox_off(struct run *run, struct hb_error *err);

/* After that: lets the agent mark its turns, if the run was asked for that. */
int own_turns_mark(struct run *run, struct hb_error *err);

#endif
