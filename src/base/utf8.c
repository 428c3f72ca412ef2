/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

struct range {
	uint32_t first;
	uint32_t last;
};

/* Sorted.  Combining marks are not here: they show. */
static const struct range hidden[] = {
	{ 0x0000, 0x001f },   /* C0 controls */
	{ 0x007f, 0x009f },   /* delete, C1 controls */
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x034f, 0x034f },   /* combining grapheme joiner */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
	{ 0x180b, 0x180f },   /* Mongolian selectors and separator */
	{ 0x200b, 0x200f },   /* zero width space and joiners, marks */
	{ 0x2028, 0x202e },   /* separators, bidirectional embeddings */
	{ 0x2060, 0x206f },   /* word joiner, invisible operators, isolates */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
	{ 0xfff0, 0xfffb },   /* specials up to the annotations */
	{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
	{ 0x1d173, 0x1d17a }, /* musical format controls */
	{ 0xe0000, 0xe0fff }, /* tags, further variation selectors */
};

bool utf8_is_hidden(uint32_t code)
{
	/* All that most names consist of. */
	if (code >= 0x20 && code < 0x7f)
		return false;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		if (code < hidden[i].first)
			return false;
		if (code <= hidden[i].last)
			return true;
	}
	return false;
}

size_t utf8_next(const char *s, size_t n, uint32_t *ret)
{
	/* The least code point that needs this many bytes. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c;
	uint32_t code;
	size_t len;

	if (n == 0)
		return 0;
	c = (unsigned char)s[0];
	if (c < 0x80) {
		*ret = c;
		return 1;
	}
	if (c < 0xc0 || c >= 0xf8)
		return 0;
	len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	if (n < len)
		return 0;

	code = c & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		c = (unsigned char)s[i];
		if ((c & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c & 0x3fU);
	}
	if (code < least[len] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret = code;
	return len;
}
