/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_PLAN_PRINT_H
#define HB_PLAN_PLAN_PRINT_H

#include "plan/plan.h"

struct buf;

/* The plan as text, one operation or setting a line, names quoted. */
int plan_print(const struct plan *plan, struct buf *out, struct hb_error *err);

/* The plan as one JSON object. */
int plan_print_json(const struct plan *plan, struct buf *out,
		    struct hb_error *err);

/* The name of an operation as plan_print() writes it; for tables and tests. */
const char *plan_op_name(enum plan_op_kind kind);

#endif
