/* SPDX-License-Identifier: Apache-2.0 */
#include "box/relay_rest.h"

#include "tap.h"

/* Each time it dies at once: few lines, and longer and longer rests. */
static void a_process_that_dies_at_once_rests_longer_each_time(void)
{
	static const int expected[] = { 1000,  2000,  4000,  8000, 16000,
					32000, 60000, 60000, 60000 };
	struct relay_rest rest = { 0 };
	int said = 0, last = 0;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		CHECK(relay_rest_begin(&rest, 0) == expected[i]);
		said += rest.is_said;
		last += rest.is_last_said;
		CHECK(!rest.is_last_said || rest.ms == REST_MAX_MS);
	}
	CHECK(said == 7);
	CHECK(last == 1);
}

static void a_process_that_lived_long_begins_anew(void)
{
	struct relay_rest rest = { 0 };

	CHECK(relay_rest_begin(&rest, 400) == 600);
	CHECK(relay_rest_begin(&rest, 5000) == 1);
	CHECK(rest.ms == 2000);
	for (int i = 0; i < 9; i++)
		(void)relay_rest_begin(&rest, 0);
	CHECK(!rest.is_said);
	CHECK(relay_rest_begin(&rest, REST_MAX_MS - 1) == 1);
	CHECK(!rest.is_said);
	CHECK(relay_rest_begin(&rest, REST_MAX_MS) == 1);
	CHECK(rest.is_said && !rest.is_last_said);
	CHECK(relay_rest_begin(&rest, 0) == 2000);
}

TESTS(T(a_process_that_dies_at_once_rests_longer_each_time),
      T(a_process_that_lived_long_begins_anew))
