/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_PACKED_H
#define HB_GIT_DELIVERY_PACKED_H

#include <stdbool.h>

struct decision;

/*
 * Adds the item of packed-refs; after all references.  The base's is written
 * anew only without the lines of deleted references.  That the session packed
 * some changes no value and is not delivered.
 */
int packed_decide(struct decision *d);

/*
 * Names of packed-refs for the next record: the base's as it will be.  Where
 * the session's own stays pending, they are those of T0.  With `is_waiting` all
 * is pending.
 */
int packed_keep_names(struct decision *d, bool is_waiting);

#endif
