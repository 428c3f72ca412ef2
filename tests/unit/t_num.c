/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* What no reader accepts. */
static const char *const never[] = { "",    " ",  " 1", "1 ", "+1",  "-",
				     "--1", "1x", "x",	"1.", "1,0", "1\n" };

static void int_is_the_whole_string(void)
{
	int64_t n = -7;

	CHECK_INT(num_int("0", 0, 9, &n), 0);
	CHECK_INT(n, 0);
	CHECK_INT(num_int("-12", -12, 9, &n), 0);
	CHECK_INT(n, -12);
	CHECK_INT(num_int("007", 0, 9, &n), 0);
	CHECK_INT(n, 7);
	for (size_t i = 0; i < COUNT(never); i++)
		CHECK_INT(num_int(never[i], INT64_MIN, INT64_MAX, &n), -EINVAL);
	CHECK_INT(num_int("0x1", 0, 9, &n), -EINVAL);
	CHECK_INT(n, 7);
}

static void int_knows_its_range(void)
{
	int64_t n = 5;

	CHECK_INT(num_int("10", 0, 9, &n), -ERANGE);
	CHECK_INT(num_int("-1", 0, 9, &n), -ERANGE);
	CHECK_INT(num_int("9223372036854775808", INT64_MIN, INT64_MAX, &n),
		  -ERANGE);
	CHECK_INT(num_int("-9223372036854775809", INT64_MIN, INT64_MAX, &n),
		  -ERANGE);
	CHECK_INT(num_int("99999999999999999999999", 0, INT64_MAX, &n),
		  -ERANGE);
	CHECK_INT(num_int("99999999999999999999999x", 0, INT64_MAX, &n),
		  -EINVAL);
	CHECK_INT(n, 5);
	CHECK_INT(num_int("9223372036854775807", 0, INT64_MAX, &n), 0);
	CHECK(n == INT64_MAX);
	CHECK_INT(num_int("-9223372036854775808", INT64_MIN, 0, &n), 0);
	CHECK(n == INT64_MIN);
}

static void u64_takes_its_base_from_the_prefix(void)
{
	uint64_t n = 3;

	CHECK_INT(num_u64("0", &n), 0);
	CHECK_INT(n, 0);
	CHECK_INT(num_u64("0x1F", &n), 0);
	CHECK_INT(n, 31);
	CHECK_INT(num_u64("0XfF", &n), 0);
	CHECK_INT(n, 255);
	CHECK_INT(num_u64("017", &n), 0);
	CHECK_INT(n, 15);
	CHECK_INT(num_u64("17", &n), 0);
	CHECK_INT(n, 17);
	CHECK_INT(num_u64("18446744073709551615", &n), 0);
	CHECK(n == UINT64_MAX);
	CHECK_INT(num_u64("0xffffffffffffffff", &n), 0);
	CHECK_INT(num_u64("18446744073709551616", &n), -ERANGE);
	CHECK_INT(num_u64("0x10000000000000000", &n), -ERANGE);
	CHECK_INT(num_u64("08", &n), -EINVAL);
	CHECK_INT(num_u64("0x", &n), -EINVAL);
	CHECK_INT(num_u64("0x-1", &n), -EINVAL);
	CHECK_INT(num_u64("-1", &n), -EINVAL);
	for (size_t i = 0; i < COUNT(never); i++)
		CHECK_INT(num_u64(never[i], &n), -EINVAL);
	CHECK(n == UINT64_MAX);
}

struct sample {
	const char *text;
	int r;
	uint64_t n;
};

static void sizes_have_suffixes(void)
{
	static const struct sample all[] = {
		{ "0", 0, 0 },
		{ "512", 0, 512 },
		{ "1K", 0, 1024 },
		{ "1k", 0, 1024 },
		{ "3M", 0, 3 << 20 },
		{ "3m", 0, 3 << 20 },
		{ "2G", 0, UINT64_C(2) << 30 },
		{ "2g", 0, UINT64_C(2) << 30 },
		{ "17179869183G", 0, UINT64_C(17179869183) << 30 },
		{ "17179869184G", -ERANGE, 0 },
		{ "K", -EINVAL, 0 },
		{ "1KB", -EINVAL, 0 },
		{ "1KK", -EINVAL, 0 },
		{ "1T", -EINVAL, 0 },
		{ "-1K", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		uint64_t n = 0;

		CHECK_INT(num_size(all[i].text, &n), all[i].r);
		CHECK(n == all[i].n);
	}
}

static void durations_have_units(void)
{
	static const struct sample all[] = {
		{ "30", 0, 30 },	 { "30s", 0, 30 },
		{ "5m", 0, 300 },	 { "2h", 0, 7200 },
		{ "14d", 0, 1209600 },	 { "0s", 0, 0 },
		{ "s", -EINVAL, 0 },	 { "5M", -EINVAL, 0 },
		{ "1h30m", -EINVAL, 0 }, { "-5s", -EINVAL, 0 },
		{ "1w", -EINVAL, 0 },	 { "213503982334602d", -ERANGE, 0 },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		uint64_t n = 0;

		CHECK_INT(num_duration(all[i].text, &n), all[i].r);
		CHECK(n == all[i].n);
	}
}

static void thousandths_have_a_point(void)
{
	static const struct sample all[] = {
		{ "2", 0, 2000 },	{ "1.5", 0, 1500 },
		{ "0.25", 0, 250 },	{ "0.125", 0, 125 },
		{ "0", 0, 0 },		{ "1.", -EINVAL, 0 },
		{ ".5", -EINVAL, 0 },	{ "1.1234", -EINVAL, 0 },
		{ "1,5", -EINVAL, 0 },	{ "-1", -EINVAL, 0 },
		{ "1.5x", -EINVAL, 0 }, { "1.-5", -EINVAL, 0 },
		{ "", -EINVAL, 0 },	{ "18446744073709552", -ERANGE, 0 },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		uint64_t n = 0;

		CHECK_INT(num_thousandths(all[i].text, &n), all[i].r);
		CHECK(n == all[i].n);
	}
}

TESTS(T(int_is_the_whole_string), T(int_knows_its_range),
      T(u64_takes_its_base_from_the_prefix), T(sizes_have_suffixes),
      T(durations_have_units), T(thousandths_have_a_point))
