/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_BUF_H
#define HB_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

/*
 * A growing run of bytes with a limit that is set when it is made.
 *
 * A failure is kept: every later addition returns it and adds nothing, so that
 * a caller who adds fifty things checks once, at the end.  The codes are -E2BIG
 * (past the limit), -ENOMEM, and the code given to buf_fail().
 *
 * The bytes are always followed by a NUL which is not counted in `len`.
 */
struct buf {
	char *data;   /* NULL as long as nothing was added; see buf_str() */
	size_t len;   /* bytes in use */
	size_t room;  /* bytes allocated, the NUL included */
	size_t limit; /* what `len` may never exceed */
	int error;    /* 0 or the negated code that is kept */
};

/*
 * Released when the scope ends:
 *
 *	auto_buf struct buf b = BUF_INIT(LIMIT);
 */
#define auto_buf __attribute__((cleanup(buf_done)))

/* clang-format off */
#define BUF_INIT(max) { .limit = (max) }
/* clang-format on */

/* Empty, without memory of its own.  `limit` is at most SIZE_MAX / 4. */
void buf_init(struct buf *b, size_t limit);

/* Releases the memory.  Accepts a zeroed struct; the limit stays. */
void buf_done(struct buf *b);

/*
 * Add to the end, wholly or not at all.  Return 0 or the error that is kept.
 * `bytes` must not lie inside the buffer itself and may be NULL when n is 0.
 */
int buf_add(struct buf *b, const void *bytes, size_t n);
int buf_add_str(struct buf *b, const char *s);
int buf_add_char(struct buf *b, char c);
int buf_add_fmt(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int buf_add_vfmt(struct buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Adds `c` n times: padding. */
int buf_add_fill(struct buf *b, char c, size_t n);

/*
 * Makes the buffer fail with `r` unless it has failed before, so that a writer
 * can refuse a value in the same way.  Returns what is kept.
 */
int buf_fail(struct buf *b, int r);

/*
 * Forgets everything from `len` on, which is at most the current length.  The
 * memory and a kept error stay.
 */
void buf_cut(struct buf *b, size_t len);

/* The bytes as a string, "" when there are none.  Valid until the next change.
 */
const char *buf_str(const struct buf *b);

/*
 * Hands the bytes to the caller, who frees them; the buffer is empty after.
 * `ret_len` may be NULL.  A kept error is returned and nothing is handed out.
 */
int buf_take(struct buf *b, char **ret_data, size_t *ret_len);

#endif
