/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_PLACES_H
#define HB_RUN_PLACES_H

struct hb_error;
struct run;

/*
 * The directories of an agent that its profile names and the host lacks.  They
 * are made, empty, so that a first login and a first conversation have a place.
 */

/*
 * Without namespaces nothing can be mounted in a state directory: all of its
 * data is carried then.
 */
void places_leave_data(struct run *run);

/* The state directories; before a session is made of them. */
int places_make_state(const struct run *run, struct hb_error *err);

/*
 * The directories of this project that are real, and in them the places where
 * the box has directories of its own.
 */
int places_make_data(const struct run *run, struct hb_error *err);

/*
 * Files of class `runs` in a real directory: the box has those of its session
 * there.  When the resources know their layers.
 */
int places_cover(struct run *run, struct hb_error *err);

#endif
