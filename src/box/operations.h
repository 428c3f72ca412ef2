/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_OPERATIONS_H
#define HB_BOX_OPERATIONS_H

#include "plan/op_kinds.h"

struct box;
struct plan_op;
struct hb_error;

/* Carries out one operation of a plan inside box->root. */
typedef int (*op_fn)(struct box *box, const struct plan_op *op,
		     struct hb_error *err);

/* An op_fn for each row of the table, in the file of its concern. */
#define OP_FUNCTION(id, name, members, traits, perms, function)      \
	int op_##function(struct box *box, const struct plan_op *op, \
			  struct hb_error *err);
PLAN_OPS(OP_FUNCTION)
#undef OP_FUNCTION

#endif
