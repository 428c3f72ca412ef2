/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_LEFTOVER_H
#define HB_GIT_DELIVERY_LEFTOVER_H

struct decision;

/* Adds an item for each changed path that has none; the list is sorted then. */
int leftover_add_items(struct decision *d);

/*
 * Every item but objects and the one of the path `but` stays, and nothing is
 * made.  NULL: there is no such path.
 */
void leftover_keep_all(struct decision *d, const char *but);

#endif
