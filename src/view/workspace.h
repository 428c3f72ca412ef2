/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view.h"
#ifndef HB_VIEW_WORKSPACE_H
#define HB_VIEW_WORKSPACE_H

struct hb_error;
struct run;

/*
 * What is held back: the workspace and, if it is a worktree, its repository;
 * with workspace_find_more() also what was asked for by name, and caches.
 *
 * Fill run->resources; cwd, home and settings are known.  -HB_E_USAGE and
 * -HB_E_CONFIG for what cannot be one.  The home directory is one only if the
 * run's listener answers yes.
 */
int workspace_find(struct run *run, struct hb_error *err);

/*
 * The same for a session that is made for no command: what run->chosen has.
 */
int workspace_chosen(struct run *run, struct hb_error *err);

/* The same for a run that goes on in a session: what its record says. */
int workspace_of_session(struct run *run, struct hb_error *err);
int workspace_find_more(struct run *run, struct hb_error *err);

#endif
