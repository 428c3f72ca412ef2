/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_JSON_H
#define HB_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes JSON (RFC 8259) without blanks into a buffer.  Commas and colons are
 * put where they belong.  A value where none may stand, a key outside of an
 * object, an end too many: all are bugs of the caller and asserted.  Errors are
 * kept by the buffer and come out of json_end_text().
 *
 * Strings may be any bytes, and what is written is always valid UTF-8:
 *
 *	control characters, and what utf8_is_hidden() says	\uXXXX
 *	a byte 0xNN (80 to ff) that is not UTF-8	\udbff\udeNN
 *	all else					as it is
 *
 * The second row is the character U+10FE00 + NN, from the end of a private
 * plane.  Every parser takes it, and a reader can turn it back into the byte.
 * So that this is exact, the characters U+10FE80 to U+10FEFF themselves are
 * written as if their bytes were not UTF-8.  No two strings look the same.
 */
#define JSON_DEPTH_MAX 32

struct json {
	struct buf *out; /* borrowed */
	unsigned int depth;
	bool has_key;		       /* a key waits for its value */
	bool is_done;		       /* the one value is complete */
	bool is_array[JSON_DEPTH_MAX]; /* what is open at each depth */
	bool has_some[JSON_DEPTH_MAX]; /* and whether it needs a comma */
};

void json_init(struct json *j, struct buf *out);

void json_object(struct json *j);
void json_array(struct json *j);
/* Ends the innermost of these. */
void json_end(struct json *j);

/* Before each value in an object. */
void json_key(struct json *j, const char *key);

void json_str(struct json *j, const char *s);
void json_bytes(struct json *j, const char *s, size_t n);
void json_int(struct json *j, int64_t n);
void json_uint(struct json *j, uint64_t n);
void json_bool(struct json *j, bool b);

/* A value that is JSON already; it is not looked at. */
void json_text(struct json *j, const char *text, size_t n);

/* Asserts that one value is complete.  Returns 0 or the buffer's error. */
int json_end_text(struct json *j);

#endif
