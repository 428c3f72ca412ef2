/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_DEV_H
#define HB_BOX_DEV_H

struct box;
struct hb_error;
struct plan_op;

/* Of type op_fn. */
int op_dev(struct box *box, const struct plan_op *op, struct hb_error *err);

#endif
