/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_ATTRIBUTES_H
#define HB_GATE_ATTRIBUTES_H

#include <stddef.h>

struct items;

/* gitattributes(5): ATTRIBUTE.VALUE, the value is the line. */
int items_read_attributes(struct items *items, const char *text, size_t n);

#endif
