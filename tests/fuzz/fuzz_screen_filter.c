/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: box
 *
 * However it is split, the same passes; and what has passed is not dropped by
 * another one, whatever was taken out of it.
 */
#include "box/screen_filter.h"
#include "fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT 4096

/* *ret_held: how many of the last bytes wait for more. */
static size_t pass(const char *in, size_t n, size_t piece, char *out,
		   size_t *ret_held)
{
	static char held[SCREEN_HELD_MAX];
	struct screen_filter f;
	size_t got = 0;

	screen_filter_init(&f, held, sizeof(held), false);
	for (size_t i = 0; i < n; i += piece)
		got += screen_filter(&f, in + i, n - i < piece ? n - i : piece,
				     out + got);
	*ret_held = f.n_held + f.is_lead + f.is_string_escape;
	return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char once[2 * SIZE_LIMIT + SCREEN_HELD_MAX],
		split[2 * SIZE_LIMIT + SCREEN_HELD_MAX],
		again[4 * SIZE_LIMIT + SCREEN_HELD_MAX];
	size_t n, n_again, held;

	if (size == 0 || size > SIZE_LIMIT)
		return 0;
	n = pass((const char *)data, size, size, once, &held);
	MUST(n <= 2 * size);
	MUST(pass((const char *)data, size, 1, split, &held) == n);
	MUST(memcmp(once, split, n) == 0);
	if (n == 0)
		return 0;
	n_again = pass(once, n, n, again, &held);
	MUST(n_again + held == n && memcmp(once, again, n_again) == 0);
	return 0;
}
