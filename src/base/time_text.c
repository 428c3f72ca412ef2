/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DAY	  ((int64_t)24 * 60 * 60)
#define YEAR_MAX  9999
#define SINCE_ERA 719468 /* days from 0000-03-01 to 1970-01-01 */
#define ERA_DAYS  146097 /* of 400 years */

/* Years begin in March: then the day that may be missing is the last one. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400, of_era = y % 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day;

	return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 +
	       of_year - 1 - SINCE_ERA;
}

static void date_of(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
	int64_t n = days + SINCE_ERA;
	int64_t era = n / ERA_DAYS, of_era = n % ERA_DAYS;
	int64_t y =
		(of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) /
		365;
	int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
	int64_t m = (5 * of_year + 2) / 153;

	*day = of_year - (153 * m + 2) / 5 + 1;
	*month = m < 10 ? m + 3 : m - 9;
	*year = y + era * 400 + (*month <= 2);
}

const char *time_text(struct timespec t, char ret[TIME_TEXT_SIZE])
{
	int64_t latest = days_of(YEAR_MAX + 1, 1, 1) * DAY - 1;
	int64_t s = t.tv_sec < 0 ? 0 : t.tv_sec > latest ? latest : t.tv_sec;
	int64_t year, month, day;

	date_of(s / DAY, &year, &month, &day);
	(void)snprintf(ret, TIME_TEXT_SIZE,
		       "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)year,
		       (unsigned)month, (unsigned)day,
		       (unsigned)(s % DAY / 3600), (unsigned)(s % 3600 / 60),
		       (unsigned)(s % 60), (unsigned)(t.tv_nsec / 1000000));
	return ret;
}

/* Exactly so many digits; -1 if there are not. */
static int64_t digits(const char **p, int n)
{
	int64_t value = 0;

	for (; n > 0; n--, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		value = value * 10 + (**p - '0');
	}
	return value;
}

/* The sign, and behind it two digits up to `max`. */
static bool take(const char **p, char sign, int64_t max, int64_t *ret)
{
	if (**p != sign)
		return false;
	(*p)++;
	*ret = digits(p, 2);
	return *ret >= 0 && *ret <= max;
}

int time_parse(const char *text, int64_t *ret_seconds)
{
	int64_t month, day, hour = 0, minute = 0, second = 0, y, m, d;
	const char *p = text;
	int64_t year = digits(&p, 4);

	if (year < 1970 || !take(&p, '-', 12, &month) || month == 0 ||
	    !take(&p, '-', 31, &day) || day == 0)
		return -EINVAL;
	date_of(days_of(year, month, day), &y, &m, &d);
	if (m != month || d != day)
		return -EINVAL;
	if (*p == 'T' || *p == ' ') {
		if (!take(&p, *p, 23, &hour) || !take(&p, ':', 59, &minute))
			return -EINVAL;
		if (*p == ':' && !take(&p, ':', 60, &second))
			return -EINVAL;
		if (*p == '.')
			p += 1 + strspn(p + 1, "0123456789");
	}
	if (*p == 'Z')
		p++;
	if (*p != '\0')
		return -EINVAL;
	*ret_seconds = days_of(year, month, day) * DAY + hour * 3600 +
		       minute * 60 + second;
	return 0;
}
