/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_GROW_H
#define HB_BASE_GROW_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Where an array begins; from there on its room doubles. */
#define GROW_FIRST ((size_t)4)

/* The work of grow(): the array with room for an item behind `n`, or NULL. */
static inline void *grow_array(void *array, size_t n, size_t size)
{
	if (n >= GROW_FIRST && (n & (n - 1)) != 0)
		return array;
	if (n > 0 && n < GROW_FIRST)
		return array;
	return reallocarray(array, n < GROW_FIRST ? GROW_FIRST : 2 * n, size);
}

/*
 * Makes room for one more item behind the `n` of `array`, which is NULL at
 * first and which nothing else may allocate.  Its room follows from `n` and is
 * not stored.  0, or -ENOMEM with the array as it was.
 */
#define grow(array, n)                                                     \
	__extension__({                                                    \
		void *grown_ = grow_array((array), (n), sizeof(*(array))); \
		if (grown_)                                                \
			(array) = grown_;                                  \
		grown_ ? 0 : -ENOMEM;                                      \
	})

#endif
