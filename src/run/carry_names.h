/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_CARRY_NAMES_H
#define HB_RUN_CARRY_NAMES_H

struct hb_error;
struct hb_session;
struct run;

/*
 * Gives a box the state that is carried for its agent, by what the settings of
 * the run say.  Before the layers are looked at.
 */
int carry_prepare(struct run *run, struct hb_session *s, struct hb_error *err);

/* The rest of it, once the session's home directory is there. */
int carry_prepare_home(const struct run *run, struct hb_session *s,
		       struct hb_error *err);

#endif
