/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_ITEM_READERS_H
#define HB_GATE_ITEM_READERS_H

#include <stddef.h>

struct items;

/* By the reader that the rule names. */
int items_read(struct items *items, const char *text, size_t n);

#endif
