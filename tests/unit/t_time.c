/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include "base/time_text.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

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

static void a_time_is_text_in_utc_and_back(void)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00.999Z" },
		{ 951782399, "2000-02-28T23:59:59.999Z" },
		{ 951782400, "2000-02-29T00:00:00.999Z" },
		{ 1763244272, "2025-11-15T22:04:32.999Z" },
		{ 4107542400, "2100-03-01T00:00:00.999Z" },
		{ 253402300799, "9999-12-31T23:59:59.999Z" },
	};
	char text[TIME_TEXT_SIZE];
	int64_t back = -1;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct timespec t = { (time_t)rows[i].seconds,
					    999999999 };

		CHECK(strcmp(time_text(t, text), rows[i].text) == 0);
		CHECK_INT(time_parse(text, &back), 0);
		CHECK_INT(back, rows[i].seconds);
	}
}

static void a_part_of_a_time_is_enough_and_other_words_are_none(void)
{
	static const char *const bad[] = {
		"",	      "2026",	     "2026-13-01",
		"2026-02-30", "2026-11-15T", "2026-11-15T24:00",
		"2026-11-1",  "2026-11-15x", "1969-12-31"
	};
	int64_t day, minute;

	CHECK_INT(time_parse("2026-11-15", &day), 0);
	CHECK_INT(time_parse("2026-11-15 22:04", &minute), 0);
	CHECK_INT(minute - day, 22 * 3600 + 4 * 60);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(time_parse(bad[i], &day), -EINVAL);
}

TESTS(T(a_time_is_text_in_utc_and_back),
      T(a_part_of_a_time_is_enough_and_other_words_are_none),
      T(seconds_decide_before_nanoseconds),
      T(nanoseconds_decide_within_a_second), T(a_time_is_not_before_itself))
