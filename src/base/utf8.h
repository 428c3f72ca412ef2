/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_UTF8_H
#define HB_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The code point at the start of the n bytes, and its length as the result.  0
 * when there is none: a stray or missing continuation byte, an overlong form, a
 * surrogate, a number above U+10FFFF, or n is 0.
 */
size_t utf8_next(const char *s, size_t n, uint32_t *ret);

/*
 * Whether showing the code point could change or hide what stands next to it:
 * control characters, bidirectional controls, characters without width, line
 * and paragraph separators.
 */
bool utf8_is_hidden(uint32_t code);

#endif
