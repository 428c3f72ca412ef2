/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_PROCFS_H
#define HB_BOX_PROCFS_H

struct box;
struct hb_error;
struct plan_op;

/* Of type op_fn. */
int op_proc(struct box *box, const struct plan_op *op, struct hb_error *err);

#endif
