/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_ERROR_H
#define HB_BASE_ERROR_H

#include "holdback/error.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>

/*
 * How errors are made; holdback/error.h says what they are.  On failure a
 * function with words for the user returns hb_fail().  The first call sets the
 * code, later calls put their words in front.
 */

static_assert(sizeof(struct hb_error) <= PIPE_BUF,
	      "an error must cross a pipe in one atomic write");

/*
 * Records a failure, or adds context to one already recorded.  Returns `r`, so
 * that failing and reporting is a single statement.  `r` must be negative.
 */
#define hb_fail(err, r, ...)                             \
	__extension__({                                  \
		int hb_code_ = (r);                      \
		hb_record((err), hb_code_, __VA_ARGS__); \
		hb_code_;                                \
	})

/* The work of hb_fail(), which is a macro so that analysers know its value. */
void hb_record(struct hb_error *err, int r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same about a path, which is put behind the words, quoted; "" is shown as
 * the directory that it stands for.
 */
#define hb_fail_at(err, r, path, ...)                               \
	__extension__({                                             \
		int hb_code_ = (r);                                 \
		hb_record_at((err), hb_code_, (path), __VA_ARGS__); \
		hb_code_;                                           \
	})

void hb_record_at(struct hb_error *err, int r, const char *path,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Records what the user can do about it.  The first fix stays: it was written
 * nearest to the cause.
 */
void hb_fix(struct hb_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Hands on what was recorded in `why`, for callers that tell some failures and
 * not others.  Returns `r`; if that is no failure, `err` stays as it is.
 */
static inline int hb_pass(struct hb_error *err, const struct hb_error *why,
			  int r)
{
	if (r < 0 && err)
		*err = *why;
	return r;
}

/* Writes "text: reason" into `buf`.  Always terminates it. */
void hb_error_format(const struct hb_error *err, char *buf, size_t size);

#endif
