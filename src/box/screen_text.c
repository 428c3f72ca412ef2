/* SPDX-License-Identifier: Apache-2.0 */
#include "box/screen_text.h"

#include <stdint.h>
#include <string.h>

/*
 * Every other byte goes the filter's own way: tests/fuzz/fuzz_screen_filter.c
 * compares the two.
 */

#define ESC 0x1b
#define ENQ 0x05
#define SO  0x0e

/* Longer ones are for the filter, which has a limit. */
#define PAINT_MAX 64
#define EACH(c)	  ((c)*UINT64_C(0x0101010101010101))

static bool is_text(unsigned char c)
{
	return c < 0x80 && c != ESC && c != ENQ && c != SO;
}

/* Whether one of the eight bytes of a word is `c`, none being above 0x7f. */
static uint64_t has_byte(uint64_t word, unsigned char c)
{
	uint64_t other = word ^ EACH(c);

	return (other - EACH(1)) & ~other & EACH(0x80);
}

static size_t text_length(const char *in, size_t n)
{
	size_t i = 0;
	uint64_t word;

	for (; n - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, in + i, sizeof(word));
		if ((word & EACH(0x80)) | has_byte(word, ESC) |
		    has_byte(word, ENQ) | has_byte(word, SO))
			break;
	}
	while (i < n && is_text((unsigned char)in[i]))
		i++;
	return i;
}

/* 0: something else, or it is not here as a whole. */
static size_t paint_length(const char *in, size_t n)
{
	size_t i = 2;

	if (n > PAINT_MAX)
		n = PAINT_MAX;
	if (n < 3 || in[0] != ESC || in[1] != '[')
		return 0;
	while (i < n && ((in[i] >= '0' && in[i] <= '9') || in[i] == ';'))
		i++;
	return i < n && in[i] && strchr("mABCDGHJK", in[i]) ? i + 1 : 0;
}

size_t screen_text_length(const char *in, size_t n, bool *ret_has_paint)
{
	size_t i = text_length(in, n), length;

	while ((length = paint_length(in + i, n - i)) > 0) {
		*ret_has_paint = true;
		i += length;
		i += text_length(in + i, n - i);
	}
	return i;
}
