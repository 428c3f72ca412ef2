/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_HOME_RCFILES_H
#define HB_VIEW_HOME_RCFILES_H

struct hb_error;
struct run;

/*
 * Shows the user's configuration of package managers, as plan/filter/rc.h
 * filters it. A file that is not understood, that a setting of the user hides,
 * or that something else shows, is none of them.  run->rc_lacks tells what was
 * left out.
 */
int rcfiles_find(struct run *run, struct hb_error *err);

#endif
