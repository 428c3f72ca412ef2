/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_TIME_TEXT_H
#define HB_BASE_TIME_TEXT_H

#include <stdint.h>
#include <time.h>

/*
 * Points in time as text, in UTC and by RFC 3339.  libc's functions would read
 * the host's time zone, which is several system calls at every start.
 */

/* "2026-11-15T22:04:32.123Z" */
#define TIME_TEXT_SIZE 32
const char *time_text(struct timespec t, char ret[TIME_TEXT_SIZE]);

/*
 * Seconds since 1970 of "2026-11-15", "2026-11-15T22:04" or
 * "2026-11-15T22:04:32", with or without a fraction and a Z behind it; a blank
 * may stand for the T.  -EINVAL: it is none of these.
 */
int time_parse(const char *text, int64_t *ret_seconds);

#endif
