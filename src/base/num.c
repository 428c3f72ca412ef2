/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

struct unit {
	char letter;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ 'K', UINT64_C(1) << 10 },
	{ 'k', UINT64_C(1) << 10 },
	{ 'M', UINT64_C(1) << 20 },
	{ 'm', UINT64_C(1) << 20 },
	{ 'G', UINT64_C(1) << 30 },
	{ 'g', UINT64_C(1) << 30 },
	{ '\0', 1 },
};

static const struct unit time_units[] = {
	{ 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { '\0', 1 },
};

static unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned int)(c - 'A') + 10;
	return 16;
}

/*
 * Reads at least one digit and stops at the first byte that is none.  The
 * digits are read to their end even after an overflow: "99…9x" is no number,
 * rather than one too large.
 */
static int read_digits(const char **pos, unsigned int base, uint64_t *ret)
{
	const char *s = *pos;
	bool over = false;
	uint64_t n = 0;

	if (digit_value(*s) >= base)
		return -EINVAL;
	for (; digit_value(*s) < base; s++) {
		over |= __builtin_mul_overflow(n, base, &n);
		over |= __builtin_add_overflow(n, digit_value(*s), &n);
	}
	*pos = s;
	if (over)
		n = UINT64_MAX;
	*ret = n;
	return over ? 1 : 0;
}

/* The same for a whole string. */
static int read_all(const char *s, unsigned int base, uint64_t *ret)
{
	uint64_t n;
	int r;

	r = read_digits(&s, base, &n);
	if (r < 0)
		return r;
	if (*s != '\0')
		return -EINVAL;
	if (r > 0)
		return -ERANGE;
	*ret = n;
	return 0;
}

int num_int(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	bool negative = *s == '-';
	uint64_t n;
	int64_t value;
	int r;

	r = read_all(negative ? s + 1 : s, 10, &n);
	if (r < 0)
		return r;
	if (n > (uint64_t)INT64_MAX + (negative ? 1 : 0))
		return -ERANGE;
	/* Negated before the conversion: INT64_MIN has no positive twin. */
	value = negative ? (int64_t)(0 - n) : (int64_t)n;
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int num_u64(const char *s, uint64_t *ret)
{
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return read_all(s + 2, 16, ret);
	return read_all(s, s[0] == '0' ? 8 : 10, ret);
}

static int read_with_unit(const char *s, const struct unit *units,
			  uint64_t *ret)
{
	const struct unit *u = units;
	uint64_t n;
	int r;

	r = read_digits(&s, 10, &n);
	if (r < 0)
		return r;
	while (u->letter != '\0' && u->letter != *s)
		u++;
	if (u->letter != '\0')
		s++;
	if (*s != '\0')
		return -EINVAL;
	if (r > 0 || __builtin_mul_overflow(n, u->factor, &n))
		return -ERANGE;
	*ret = n;
	return 0;
}

int num_size(const char *s, uint64_t *ret)
{
	return read_with_unit(s, size_units, ret);
}

int num_duration(const char *s, uint64_t *ret_seconds)
{
	return read_with_unit(s, time_units, ret_seconds);
}

int num_thousandths(const char *s, uint64_t *ret)
{
	uint64_t whole, part = 0;
	const char *point;
	size_t n;
	int r;

	r = read_digits(&s, 10, &whole);
	if (r < 0)
		return r;
	point = s;
	if (*point == '.') {
		s++;
		if (read_digits(&s, 10, &part) < 0)
			return -EINVAL;
	}
	n = (size_t)(s - point);
	if (*s != '\0' || n > sizeof(".000") - 1)
		return -EINVAL;
	for (; n > 0 && n < sizeof(".000") - 1; n++)
		part *= 10;
	if (r > 0 || __builtin_mul_overflow(whole, 1000, &whole) ||
	    __builtin_add_overflow(whole, part, &whole))
		return -ERANGE;
	*ret = whole;
	return 0;
}
