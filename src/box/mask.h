/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_MASK_H
#define HB_BOX_MASK_H

struct box;
struct hb_error;
struct plan_op;

/*
 * The directory of a bind with its masks on top, as a detached mount.
 * -EOPNOTSUPP without words where the kernel cannot do that with the directory:
 * then each mask is mounted on what it covers.
 */
int mask_mount(struct box *box, const struct plan_op *op, struct hb_error *err);

#endif
