/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_DESK_INDEX_H
#define HB_GIT_DELIVERY_DESK_INDEX_H

struct decision;

/*
 * Adds the item of the workspace's index; after heads_decide().  It is merged
 * once to see whether it can be: the conflicts are told.  -ENOTSUP: one of the
 * three is of a format that is not read.
 */
int desk_index_decide(struct decision *d);

#endif
