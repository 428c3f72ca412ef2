/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_HOME_PROGRAMS_H
#define HB_VIEW_HOME_PROGRAMS_H

struct hb_error;
struct run;

/*
 * The directories of PATH that lie in the home directory and are in no row of
 * the profile.
 *
 * An installation that is known by a sign (a venv, conda, an npm prefix) is
 * shown.  Of any other directory programs are shown one by one, and each file
 * that a link there leads to.  Nothing is shown that view/home/bounds.h keeps
 * out. run->path_lacks has the directories of PATH that are not there,
 * run->n_program_lacks the number of links that lead to none.
 */
int programs_show(struct run *run, struct hb_error *err);

#endif
