/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include "tap.h"

static const struct timespec early = { 5, 999999999 }, late = { 6, 1 };

static void seconds_decide_before_nanoseconds(void)
{
	CHECK(time_is_before(early, late));
	CHECK(!time_is_before(late, early));
}

static void nanoseconds_decide_within_a_second(void)
{
	const struct timespec later = { 6, 2 };

	CHECK(time_is_before(late, later) && !time_is_before(later, late));
	CHECK(!time_is_same(late, later));
}

static void a_time_is_not_before_itself(void)
{
	CHECK(!time_is_before(late, late) && time_is_same(late, late));
}

TESTS(T(seconds_decide_before_nanoseconds),
      T(nanoseconds_decide_within_a_second), T(a_time_is_not_before_itself))
