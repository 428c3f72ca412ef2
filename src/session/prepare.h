/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PREPARE_H
#define HB_SESSION_PREPARE_H

#include "plan/plan.h"
#include "plan/view.h"

#include <limits.h>
#include <stddef.h>

struct hb_error;
struct hb_run_options;

/*
 * One run before it starts: what was asked for, what the host has, and the plan
 * that follows from both.
 */
struct run {
	const struct hb_run_options *options;
	struct view_request request;
	struct view_host host;
	struct plan plan;
	char **argv;		 /* the plan's, allocated */
	struct view_tree *trees; /* the request's, allocated */
	char cwd[PATH_MAX];	 /* the caller's */
	char chdir[PATH_MAX];	 /* inside, if another one was asked for */
	char workspace[PATH_MAX];
	char home[PATH_MAX];
	char resolver[PATH_MAX];
	char command[PATH_MAX];	     /* as it was found */
	char command_real[PATH_MAX]; /* what that leads to */
};

/*
 * Makes the plan.  `run` is freed with run_done() in any case.  Changes nothing
 * on the host.
 */
int run_prepare(struct run *run, const struct hb_run_options *options,
		struct hb_error *err);
void run_done(struct run *run);

#endif
