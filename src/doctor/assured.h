/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_DOCTOR_ASSURED_H
#define HB_DOCTOR_ASSURED_H

#include "holdback/holdback.h"

/*
 * Seven things that a run must not have, each tried inside a run.  Also the
 * checks of `holdback doctor` that are about no feature of the kernel.
 */

typedef void (*assured_fn)(void *context, const struct hb_check *check);

/*
 * Tells a row for each of the seven, and one for each agent that is installed.
 * `dir` is a directory of ours, in which a workspace and a store are made; the
 * caller removes them.  Without `can_run` nothing is tried.  Returns the number
 * of rows that failed.
 */
int assured_tell(const char *dir, char *const *envp, bool can_run,
		 assured_fn tell, void *context);

#endif
