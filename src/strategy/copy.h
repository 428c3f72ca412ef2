/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_COPY_H
#define HB_STRATEGY_COPY_H

/*
 * A copy of the view, which boxes write to, and a baseline that says what it
 * was like.  Both are a cache.  They can be made again from base and layers at
 * any time, unless a box wrote to the copy since the last copy_after_box().
 */
#define COPY_DIR "copy"

/* Things in one resource that cannot be copied and are shown as they are. */
#define COPY_HELD_MAX 64

#endif
