/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_JSON_ITEMS_H
#define HB_GATE_JSON_ITEMS_H

#include <stddef.h>

struct items;

/* One JSON object: NAME.NAME of each member, at any depth. */
int items_read_json(struct items *items, const char *text, size_t n);

/* The same with comments and commas before a closing bracket. */
int items_read_jsonc(struct items *items, const char *text, size_t n);

#endif
