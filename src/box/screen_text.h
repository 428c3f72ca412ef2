/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_SCREEN_TEXT_H
#define HB_BOX_SCREEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The way of nearly all bytes through the screen filter, many at a time.
 *
 * Returns how many bytes at the beginning are text, or whole control sequences
 * that only paint (colours, the cursor, erasing).  The filter passes each of
 * these unchanged.  *ret_has_paint is set to true where there is such a
 * sequence, and else left as it is.  Text is ASCII here, and no control that
 * the filter looks at.
 */
size_t screen_text_length(const char *in, size_t n, bool *ret_has_paint);

#endif
