/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_PACKED_H
#define HB_GIT_DELIVERY_PACKED_H

struct decision;

/*
 * Adds the item of packed-refs; after all references.  The base's is written
 * anew only without the lines of deleted references.  That the session packed
 * some changes no value and is not delivered.
 */
int packed_decide(struct decision *d);

#endif
