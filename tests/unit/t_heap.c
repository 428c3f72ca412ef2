/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap of the run path under other names, so that the test itself has
 * libc's.
 */
#define malloc	heap_malloc
#define calloc	heap_calloc
#define realloc heap_realloc
#define free	heap_free
#include "sys/heap.c"
#undef malloc
#undef calloc
#undef realloc
#undef free

#include "tap.h"

static void blocks_are_aligned_and_apart(void)
{
	char *a = heap_malloc(3), *b = heap_malloc(40);

	CHECK(a && b);
	CHECK_INT((uintptr_t)a % ALIGNMENT, 0);
	CHECK_INT((uintptr_t)b % ALIGNMENT, 0);
	CHECK(b >= a + 3);
	memset(a, 1, 3);
	memset(b, 2, 40);
	CHECK_INT(a[2], 1);
	heap_free(b);
	heap_free(a);
}

static void the_newest_grows_in_place(void)
{
	char *a = heap_malloc(16), *b;

	memset(a, 7, 16);
	b = heap_realloc(a, 4000);
	CHECK(b == a);
	CHECK_INT(b[15], 7);
	heap_free(b);
	CHECK_INT(used, 0);
}

static void an_older_one_moves_with_what_it_holds(void)
{
	char *a = heap_malloc(16), *wall = heap_malloc(16), *b;

	memset(a, 9, 16);
	b = heap_realloc(a, 64);
	CHECK(b != a && b != wall);
	CHECK_INT(b[15], 9);
	heap_free(b);
	heap_free(wall);
	CHECK_INT(used, 0);
}

static void freed_ones_go_with_the_newest(void)
{
	char *a = heap_malloc(16), *b = heap_malloc(5000);
	char *c = heap_malloc(32), *d;

	memset(a, 4, 16);
	memset(c, 6, 32);
	heap_free(b);
	d = heap_malloc(16);
	CHECK(d > c);
	CHECK_INT(c[31], 6);
	heap_free(c);
	heap_free(d);
	CHECK(heap_malloc(5000) == b);
	CHECK_INT(a[15], 4);
	heap_free(b);
	heap_free(a);
	CHECK_INT(used, 0);
}

static void zeroed_also_where_something_was(void)
{
	char *a = heap_malloc(64), *b;

	memset(a, 0xff, 64);
	heap_free(a);
	b = heap_calloc(8, 8);
	CHECK(b == a);
	for (int i = 0; i < 64; i++)
		CHECK_INT(b[i], 0);
	heap_free(b);
}

/* The last bytes of it were never taken, the first ones by two blocks. */
static void zeroed_also_where_only_a_part_was(void)
{
	char *a = heap_malloc(64), *b = heap_realloc(a, 4096), *c;

	CHECK(b == a);
	memset(b, 0xff, 4096);
	heap_free(b);
	c = heap_calloc(1, 8192);
	CHECK(c == a);
	for (int i = 0; i < 8192; i++)
		CHECK_INT(c[i], 0);
	heap_free(c);
}

static void what_does_not_fit_comes_from_the_kernel(void)
{
	char *big = heap_malloc(AREA_SIZE), *grown;

	CHECK(big && (big < area || big >= area + AREA_SIZE));
	memset(big, 5, AREA_SIZE);
	grown = heap_realloc(big, (size_t)2 * AREA_SIZE);
	CHECK(grown && grown[AREA_SIZE - 1] == 5);
	heap_free(grown);
}

static void a_full_area_is_not_overrun(void)
{
	char *last = NULL;

	for (int i = 0; i < 5000; i++) {
		last = heap_malloc(100);
		CHECK(last);
		memset(last, 3, 100);
		CHECK(used <= AREA_SIZE);
	}
	last = heap_realloc(last, 5000);
	CHECK(last && last[99] == 3);
}

/* To the last byte of the area, from each distance to its end. */
static void the_block_at_the_end_does_not_grow_past_it(void)
{
	for (size_t gap = 0; gap <= 4 * (size_t)ALIGNMENT; gap += ALIGNMENT) {
		size_t room = AREA_SIZE - used - sizeof(struct block) - gap;
		char *last = heap_malloc(room), *grown;

		CHECK(last >= area && last < area + AREA_SIZE);
		memset(last, 8, room);
		grown = heap_realloc(last, room + gap);
		CHECK(grown == last);
		CHECK_INT(used, AREA_SIZE);
		grown = heap_realloc(grown, room + gap + 1);
		CHECK(grown && (grown < area || grown >= area + AREA_SIZE));
		CHECK_INT(grown[room - 1], 8);
		CHECK(used <= AREA_SIZE);
		heap_free(grown);
	}
}

static void too_much_is_refused(void)
{
	CHECK(heap_malloc(SIZE_MAX) == NULL);
	CHECK(heap_calloc(SIZE_MAX / 2, 4) == NULL);
	heap_free(NULL);
}

TESTS(T(blocks_are_aligned_and_apart), T(the_newest_grows_in_place),
      T(an_older_one_moves_with_what_it_holds),
      T(freed_ones_go_with_the_newest), T(zeroed_also_where_something_was),
      T(zeroed_also_where_only_a_part_was),
      T(what_does_not_fit_comes_from_the_kernel),
      T(the_block_at_the_end_does_not_grow_past_it),
      T(a_full_area_is_not_overrun), T(too_much_is_refused))
