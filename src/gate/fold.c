/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/fold.h"

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * ext4 and f2fs with casefold compare names after Unicode's decomposition and
 * case folding, without the code points that are ignored by default.  Only two
 * letters beyond ASCII fold to one of ASCII alone.
 */
static const struct {
	uint32_t from, to;
	char byte; /* 0: ignored */
} folds[] = {
	{ 0x00ad, 0x00ad, 0 },	 { 0x017f, 0x017f, 's' },
	{ 0x034f, 0x034f, 0 },	 { 0x061c, 0x061c, 0 },
	{ 0x115f, 0x1160, 0 },	 { 0x17b4, 0x17b5, 0 },
	{ 0x180b, 0x180f, 0 },	 { 0x200b, 0x200f, 0 },
	{ 0x202a, 0x202e, 0 },	 { 0x2060, 0x206f, 0 },
	{ 0x212a, 0x212a, 'k' }, { 0x3164, 0x3164, 0 },
	{ 0xfe00, 0xfe0f, 0 },	 { 0xfeff, 0xfeff, 0 },
	{ 0xffa0, 0xffa0, 0 },	 { 0xfff0, 0xfff8, 0 },
	{ 0x1bca0, 0x1bca3, 0 }, { 0x1d173, 0x1d17a, 0 },
	{ 0xe0000, 0xe0fff, 0 },
};

/* The length of the well-formed sequence at `s` beyond ASCII, or 0. */
static size_t decode(const unsigned char *s, uint32_t *ret)
{
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t code = s[0] & (0x7fU >> n);

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fU);
	}
	*ret = code;
	return n;
}

int gate_fold(struct buf *out, const char *path)
{
	const unsigned char *s = (const unsigned char *)path;
	int r = 0;

	while (r >= 0 && *s) {
		uint32_t code = 0;
		size_t n = *s < 0x80 ? 0 : decode(s, &code);
		size_t i = 0;

		while (n > 0 && i < sizeof(folds) / sizeof(folds[0]) &&
		       (code < folds[i].from || code > folds[i].to))
			i++;
		if (n == 0 || i == sizeof(folds) / sizeof(folds[0])) {
			n = n > 0 ? n : 1;
			r = buf_add(out, s, n);
		} else if (folds[i].byte) {
			r = buf_add_char(out, folds[i].byte);
		}
		s += n;
	}
	return r;
}
