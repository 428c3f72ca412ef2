/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_LEFTOVER_H
#define HB_GIT_DELIVERY_LEFTOVER_H

struct decision;

/* Adds an item for each changed path that has none; the list is sorted then. */
int leftover_add_items(struct decision *d);

/* Every item but objects stays, and nothing is made: DELIVERY_WAITS. */
void leftover_keep_all(struct decision *d);

#endif
