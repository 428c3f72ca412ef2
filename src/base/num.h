/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_NUM_H
#define HB_BASE_NUM_H

#include <stdint.h>

/*
 * Numbers from text, strictly: the whole string is the number or it is none.
 * No blanks, no '+', nothing after it.  Independent of the locale.
 *
 * All return 0, -EINVAL (not such a number) or -ERANGE (one, but too small or
 * too large), and write the result only on success.  They take no error: only
 * the caller knows what the number was for.
 */

/* Decimal, with '-' for negative ones, within min..max. */
int num_int(const char *s, int64_t min, int64_t max, int64_t *ret);

/* Base by prefix as in strtoull(…, 0): 0x hexadecimal, 0 octal, decimal. */
int num_u64(const char *s, uint64_t *ret);

/* Decimal bytes with an optional K, M or G, in either case; powers of 1024. */
int num_size(const char *s, uint64_t *ret);

/* Decimal with an optional s, m, h or d; seconds when there is none. */
int num_duration(const char *s, uint64_t *ret_seconds);

/* Decimal with up to three digits behind a point: "1.5" is 1500. */
int num_thousandths(const char *s, uint64_t *ret);

#endif
