/* SPDX-License-Identifier: Apache-2.0 */
/* Those of the run path under other names: the test itself has libc's. */
#define memcpy	copy_bytes
#define memmove move_bytes
#include "sys/copy_bytes.c"
#undef memcpy
#undef memmove

#include "tap.h"

#include <stdbool.h>

enum {
	MOST = 3 * LONG,
	ROOM = MOST + 2 * 16
};

/* Whether exactly `n` bytes arrive, from and to any alignment. */
static bool arrives(size_t n, size_t from, size_t to)
{
	unsigned char source[ROOM], target[ROOM];

	for (size_t i = 0; i < ROOM; i++) {
		source[i] = (unsigned char)(i * 7 + 1);
		target[i] = 0xee;
	}
	if (copy_bytes(target + to, source + from, n) != target + to)
		return false;
	for (size_t i = 0; i < ROOM; i++) {
		bool is_in = i >= to && i < to + n;

		if (target[i] != (is_in ? source[i - to + from] : 0xee))
			return false;
	}
	return true;
}

static void each_length_arrives_whole(void)
{
	size_t wrong = 0;

	for (size_t n = 0; n <= MOST; n++)
		for (size_t from = 0; from < 16; from += 3)
			for (size_t to = 0; to < 16; to += 5)
				wrong += !arrives(n, from, to);
	CHECK_INT(wrong, 0);
}

/* Within one area, up and down. */
static bool moves(size_t n, size_t from, size_t to)
{
	unsigned char area[ROOM];

	for (size_t i = 0; i < ROOM; i++)
		area[i] = (unsigned char)(i * 7 + 1);
	if (move_bytes(area + to, area + from, n) != area + to)
		return false;
	for (size_t i = 0; i < ROOM; i++) {
		size_t was = i >= to && i < to + n ? i - to + from : i;

		if (area[i] != (unsigned char)(was * 7 + 1))
			return false;
	}
	return true;
}

static void each_length_moves_both_ways(void)
{
	size_t wrong = 0;

	for (size_t n = 0; n <= MOST; n++)
		for (size_t by = 0; by <= 32; by++)
			wrong += !moves(n, 0, by) + !moves(n, by, 0);
	CHECK_INT(wrong, 0);
}

TESTS(T(each_length_arrives_whole), T(each_length_moves_both_ways))
