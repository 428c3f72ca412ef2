/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_OVERLAY_H
#define HB_BOX_OVERLAY_H

struct hb_error;
struct plan_op;
struct box;

/*
 * A detached overlay of two directories, the lower one first, that cannot be
 * written.  -errno without words.
 */
int overlay_read_only(int lower, int higher);

/* Of type op_fn. */
int op_overlay(struct box *box, const struct plan_op *op, struct hb_error *err);

#endif
