/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_JOB_SIGNALS_H
#define HB_BOX_JOB_SIGNALS_H

#include <stdbool.h>

/* Whether a shell ends a job with it, or stops one. */
bool job_signal_ends(int sig);
bool job_signal_stops(int sig);

#endif
