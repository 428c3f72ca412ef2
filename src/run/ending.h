/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_ENDING_H
#define HB_RUN_ENDING_H

#include "holdback/report.h"

#include <stdbool.h>
#include <stdint.h>

struct box_result;
struct hb_listener;

/*
 * Reports what the end of a command brought with it: that its time was up, what
 * the sandbox denied it, processes that it left behind.
 */
void ending_report(const struct hb_listener *listener,
		   const struct box_result *result, bool is_quiet);

/* The status for the caller, and the signal that it is to die of. */
int ending_status(const struct box_result *result);
struct hb_death ending_death(const struct box_result *result);

/* How many user namespaces it was refused; -1: they were not counted. */
int64_t ending_nested(const struct box_result *result);

#endif
