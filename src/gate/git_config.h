/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GIT_CONFIG_H
#define HB_GATE_GIT_CONFIG_H

#include <stddef.h>

struct items;

/* git-config(1): SECTION.KEY and SECTION.SUBSECTION.KEY. */
int items_read_git_config(struct items *items, const char *text, size_t n);

#endif
