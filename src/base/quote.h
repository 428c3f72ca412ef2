/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_QUOTE_H
#define HB_BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Names are bytes that a stranger chose.  A quoted name cannot speak to the
 * terminal or pass for another name, and can be read back exactly.
 *
 * A quoted name stands in double quotes.  Inside, `"` and `\` have a backslash
 * before them.  Written as \ooo, byte by byte, are control characters (C0,
 * delete, C1) and bytes that are not UTF-8.  So are bidirectional controls and
 * characters without width (utf8_is_hidden()).  All else stays.
 *
 * A name is quoted if it holds any of these, is empty, or has a blank at either
 * end.  Otherwise it stays bare.
 */
bool quote_is_needed(const char *name, size_t n);

/* Adds the name, quoted if need be.  Returns 0 or the buffer's error. */
int quote_name(const char *name, size_t n, struct buf *out);

/* The same, in quotes always. */
int quote_name_always(const char *name, size_t n, struct buf *out);

/* Enough for the names in one message. */
#define QUOTE_SHOWN 128

/*
 * The same for messages: quotes the string into `out`.  A string that does not
 * fit ends with "...".  `size` is at least 8.  Never allocates, so that it can
 * be used where an error is made.  Returns `out`.
 */
const char *quote_shown(const char *name, char *out, size_t size);

/* The same, in room of the block around it: as an argument of a message. */
#define quoted(name) quote_shown((name), (char[QUOTE_SHOWN]){ 0 }, QUOTE_SHOWN)

/*
 * The inverse: adds the bytes for which the `n` bytes of `text` stand.  Text
 * that does not begin with a double quote stands for itself.  Also understands
 * \a \b \t \n \v \f \r, for people who write by hand.
 *
 * Returns 0 or the buffer's error.  -EINVAL: the quotes do not end with the
 * text, an escape is unknown, or it has a NUL.  After -EINVAL what was added is
 * cut off again and the buffer has not failed.
 */
int unquote_name(const char *text, size_t n, struct buf *out);

#endif
