/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_THINGS_H
#define HB_BOX_THINGS_H

struct box;
struct hb_error;
struct plan_op;

/* Of type op_fn. */
int op_dir(struct box *box, const struct plan_op *op, struct hb_error *err);
int op_file(struct box *box, const struct plan_op *op, struct hb_error *err);
int op_bind_data(struct box *box, const struct plan_op *op,
		 struct hb_error *err);
int op_symlink(struct box *box, const struct plan_op *op, struct hb_error *err);
int op_chmod(struct box *box, const struct plan_op *op, struct hb_error *err);
int op_hostname(struct box *box, const struct plan_op *op,
		struct hb_error *err);

#endif
