/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/op_kinds.h"

#define KIND(id_, name_, members_, traits_, perms_, function_) \
	[OP_##id_] = { (name_), (members_), (traits_), (perms_) },

const struct plan_kind plan_kinds[OP_END] = { PLAN_OPS(KIND) };
