/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_OVERLAY_H
#define HB_BOX_OVERLAY_H

/*
 * A detached overlay of two directories, the lower one first, that cannot be
 * written.  -errno without words.
 */
int overlay_read_only(int lower, int higher);

#endif
