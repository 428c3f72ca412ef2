/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/seccomp.h"

#include "box/filter/filter.h"
#include "box/state.h"
#include "filter_table.h"

/*
 * The default filter, generated at build time, and filters the caller brought
 * as raw programs.  The last word is always the strictest one's.
 */

static int load_default(const struct box *box, struct hb_error *err)
{
	unsigned variant = FILTER_DEFAULT;
	int r;

	if (!is_set(box, PLAN_FILTER))
		return 0;
	if (is_set(box, PLAN_FILTER_NO_PTRACE))
		variant |= FILTER_NO_PTRACE;
	if (is_set(box, PLAN_FILTER_NESTED))
		variant |= FILTER_NESTED;
	if (is_set(box, PLAN_BARE))
		variant |= FILTER_BARE;
	if (is_set(box, PLAN_NO_SOCKETS))
		variant |= FILTER_NO_SOCKETS;
	if (is_set(box, PLAN_FILTER_NO_SETID))
		variant |= FILTER_NO_SETID;
	r = sys_seccomp_load(filter_table[variant].filter,
			     filter_table[variant].len);
	if (r < 0)
		return hb_fail(err, r, "cannot load the default filter");
	return 0;
}

int step_seccomp(struct box *box, struct hb_error *err)
{
	int r;

	r = load_default(box, err);
	for (size_t i = 0; r >= 0 && i < box->n_filters; i++) {
		r = sys_seccomp_load(box->filters[i].code, box->filters[i].n);
		if (r < 0)
			return hb_fail(err, r, "prctl(PR_SET_SECCOMP)");
	}
	return r;
}
