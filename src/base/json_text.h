/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_JSON_TEXT_H
#define HB_BASE_JSON_TEXT_H

#include <stddef.h>

struct buf;

/*
 * Adds the bytes for which a JSON string stands, which is given with its
 * quotes: the inverse of json_bytes(), byte for byte.  -EINVAL: it is no
 * string, or has half of a pair; then what was added is cut off again.
 */
int json_text_of(const char *text, size_t n, struct buf *out);

#endif
