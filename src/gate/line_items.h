/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_LINE_ITEMS_H
#define HB_GATE_LINE_ITEMS_H

#include <stddef.h>

struct items;

/* Each line, without the blanks around it, that does not begin with '#'. */
int items_read_lines(struct items *items, const char *text, size_t n);

/* Of a lock file: the host of each URL that something is fetched from. */
int items_read_hosts(struct items *items, const char *text, size_t n);

#endif
