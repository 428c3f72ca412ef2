/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Where bytes that are not UTF-8 go; see json.h. */
#define BYTES_BASE  0x10fe00U
#define BYTES_FIRST (BYTES_BASE + 0x80)
#define BYTES_LAST  (BYTES_BASE + 0xff)

void json_init(struct json *j, struct buf *out)
{
	*j = (struct json){ .out = out };
}

/* Puts what has to stand before a value and checks that one may stand here. */
static void begin_value(struct json *j)
{
	unsigned int top = j->depth - 1;

	assert(!j->is_done);
	if (j->depth == 0)
		return;
	assert(j->is_array[top] || j->has_key);
	if (j->is_array[top] && j->has_some[top])
		(void)buf_add_char(j->out, ',');
	j->has_some[top] = true;
	j->has_key = false;
}

static void end_value(struct json *j)
{
	j->is_done = j->depth == 0;
}

static void begin_nested(struct json *j, bool is_array)
{
	begin_value(j);
	assert(j->depth < JSON_DEPTH_MAX);
	j->is_array[j->depth] = is_array;
	j->has_some[j->depth] = false;
	j->depth++;
	(void)buf_add_char(j->out, is_array ? '[' : '{');
}

void json_object(struct json *j)
{
	begin_nested(j, false);
}

void json_array(struct json *j)
{
	begin_nested(j, true);
}

void json_end(struct json *j)
{
	assert(j->depth > 0 && !j->has_key);
	j->depth--;
	(void)buf_add_char(j->out, j->is_array[j->depth] ? ']' : '}');
	end_value(j);
}

static void add_escape(struct buf *out, uint32_t code)
{
	if (code < 0x10000) {
		(void)buf_add_fmt(out, "\\u%04" PRIx32, code);
		return;
	}
	code -= 0x10000;
	(void)buf_add_fmt(out, "\\u%04" PRIx32 "\\u%04" PRIx32,
			  0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

static void add_string(struct buf *out, const char *s, size_t n)
{
	uint32_t code = 0;
	size_t len;

	(void)buf_add_char(out, '"');
	for (size_t i = 0; i < n; i += len) {
		len = utf8_next(s + i, n - i, &code);
		if (len == 0 || (code >= BYTES_FIRST && code <= BYTES_LAST)) {
			/*
			 * One byte on: what follows in such a character is no
			 * start of another and lands here again.
			 */
			len = 1;
			add_escape(out, BYTES_BASE + (unsigned char)s[i]);
		} else if (utf8_is_hidden(code)) {
			add_escape(out, code);
		} else {
			if (code == '"' || code == '\\')
				(void)buf_add_char(out, '\\');
			(void)buf_add(out, s + i, len);
		}
	}
	(void)buf_add_char(out, '"');
}

void json_key(struct json *j, const char *key)
{
	unsigned int top = j->depth - 1;

	assert(j->depth > 0 && !j->is_array[top] && !j->has_key);
	if (j->has_some[top])
		(void)buf_add_char(j->out, ',');
	add_string(j->out, key, strlen(key));
	(void)buf_add_char(j->out, ':');
	j->has_key = true;
}

void json_bytes(struct json *j, const char *s, size_t n)
{
	begin_value(j);
	add_string(j->out, s, n);
	end_value(j);
}

void json_str(struct json *j, const char *s)
{
	json_bytes(j, s, strlen(s));
}

void json_int(struct json *j, int64_t n)
{
	begin_value(j);
	(void)buf_add_fmt(j->out, "%" PRId64, n);
	end_value(j);
}

void json_uint(struct json *j, uint64_t n)
{
	begin_value(j);
	(void)buf_add_fmt(j->out, "%" PRIu64, n);
	end_value(j);
}

void json_bool(struct json *j, bool b)
{
	begin_value(j);
	(void)buf_add_str(j->out, b ? "true" : "false");
	end_value(j);
}

void json_text(struct json *j, const char *text, size_t n)
{
	begin_value(j);
	(void)buf_add(j->out, text, n);
	end_value(j);
}

int json_end_text(struct json *j)
{
	assert(j->is_done && j->depth == 0);
	return j->out->error;
}
