/* SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"

#include "tap.h"

#include <stdint.h>

static void every_item_has_room_and_stays(void)
{
	uint32_t *list = NULL;

	for (uint32_t n = 0; n < 1000; n++) {
		CHECK_INT(grow(list, n), 0);
		list[n] = n;
	}
	for (uint32_t i = 0; i < 1000; i++)
		CHECK(list[i] == i);
	free(list);
}

static void a_stack_grows_again_after_it_has_shrunk(void)
{
	uint64_t *stack = NULL;
	size_t n = 0;

	for (int turn = 0; turn < 3; turn++) {
		for (; n < 70; n++) {
			CHECK_INT(grow(stack, n), 0);
			stack[n] = n;
		}
		for (size_t i = 0; i < n; i++)
			CHECK(stack[i] == i);
		n = 3;
	}
	free(stack);
}

/* Under a sanitizer malloc() has to refuse as it does without. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void a_refusal_leaves_the_array(void)
{
	struct item {
		char bytes[1 << 20];
	} *list = malloc(4 * sizeof(*list)), *before = list;
	volatile size_t n = (size_t)1 << 61;

	list[0].bytes[0] = 'x';
	CHECK_INT(grow(list, n), -ENOMEM);
	CHECK(list == before && list[0].bytes[0] == 'x');
	free(list);
}

TESTS(T(every_item_has_room_and_stays),
      T(a_stack_grows_again_after_it_has_shrunk), T(a_refusal_leaves_the_array))
