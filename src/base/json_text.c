/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include "base/buf.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* json.h: a byte 80 to ff that is not UTF-8 is this and the byte. */
#define BYTES_BASE 0x10fe00U

struct from {
	const char *at, *end;
};

/* The four digits behind "\u". */
static int take_unit(struct from *from, uint32_t *ret)
{
	static const char digits[] = "0123456789abcdef";

	if (from->end - from->at < 4)
		return -EINVAL;
	*ret = 0;
	for (int i = 0; i < 4; i++) {
		char c = *from->at++;
		const char *d =
			c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c)
			  : NULL;

		if (!d)
			return -EINVAL;
		*ret = *ret * 16 + (uint32_t)(d - digits);
	}
	return 0;
}

static int add_code(uint32_t code, struct buf *out)
{
	char bytes[4];
	size_t n = 0;

	if (code >= BYTES_BASE + 0x80 && code <= BYTES_BASE + 0xff)
		return buf_add_char(out, (char)(code - BYTES_BASE));
	if (code < 0x80) {
		bytes[n++] = (char)code;
	} else if (code < 0x800) {
		bytes[n++] = (char)(0xc0 | code >> 6);
		bytes[n++] = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		bytes[n++] = (char)(0xe0 | code >> 12);
		bytes[n++] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (code & 0x3f));
	} else {
		bytes[n++] = (char)(0xf0 | code >> 18);
		bytes[n++] = (char)(0x80 | (code >> 12 & 0x3f));
		bytes[n++] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (code & 0x3f));
	}
	return buf_add(out, bytes, n);
}

static int take_code(struct from *from, struct buf *out)
{
	uint32_t code, low;

	if (take_unit(from, &code) < 0 || code == 0)
		return -EINVAL;
	if (code >= 0xd800 && code < 0xdc00) {
		if (from->end - from->at < 2 || from->at[0] != '\\' ||
		    from->at[1] != 'u')
			return -EINVAL;
		from->at += 2;
		if (take_unit(from, &low) < 0 || low < 0xdc00 || low > 0xdfff)
			return -EINVAL;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (code >= 0xdc00 && code <= 0xdfff) {
		return -EINVAL;
	}
	return add_code(code, out);
}

static int take_escape(struct from *from, struct buf *out)
{
	static const char spelled[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (from->at == from->end || *from->at == '\0')
		return -EINVAL;
	if (*from->at == 'u') {
		from->at++;
		return take_code(from, out);
	}
	found = strchr(spelled, *from->at++);
	return found ? buf_add_char(out, meant[found - spelled]) : -EINVAL;
}

int json_text_of(const char *text, size_t n, struct buf *out)
{
	struct from from = { text + 1, text + n - 1 };
	size_t start = out->len;
	int r = n < 2 || text[0] != '"' || text[n - 1] != '"' ? -EINVAL : 0;

	while (r >= 0 && from.at < from.end) {
		char c = *from.at++;

		if (c == '\\')
			r = take_escape(&from, out);
		else if (c == '"' || c == '\0')
			r = -EINVAL;
		else
			r = buf_add_char(out, c);
	}
	if (r == -EINVAL)
		buf_cut(out, start);
	return r;
}
