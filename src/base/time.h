/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_TIME_H
#define HB_BASE_TIME_H

#include <stdbool.h>
#include <time.h>

/* Points in time as the kernel gives them, to the nanosecond. */

static inline bool time_is_same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Whether the kernel would take it, as a reader of stored times asks. */
static inline bool time_is_valid(struct timespec t)
{
	return t.tv_nsec >= 0 && t.tv_nsec < 1000000000;
}

static inline bool time_is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec
				    : a.tv_nsec < b.tv_nsec;
}

#endif
