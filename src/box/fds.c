/* SPDX-License-Identifier: Apache-2.0 */
#include "box/state.h"
#include "sys/proc.h"

#include <stdlib.h>

/* Which descriptors whom the box is made of may hold. */

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void fds_close_but(int first, int *keep, size_t n)
{
	qsort(keep, n, sizeof(*keep), by_number);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < first)
			continue;
		if (keep[i] > first)
			(void)sys_close_range((unsigned)first,
					      (unsigned)keep[i] - 1);
		first = keep[i] + 1;
	}
	(void)sys_close_range((unsigned)first, ~0U);
}

int step_fds(struct box *box, struct hb_error *err)
{
	unsigned report = (unsigned)box->report;
	int r = 0;

	if (!is_set(box, PLAN_CLOSE_FDS))
		return 0;
	if (report > 3)
		r = sys_close_range(3, report - 1);
	if (r >= 0)
		r = sys_close_range(report + 1, ~0U);
	if (r < 0)
		return hb_fail(err, r, "cannot close descriptors");
	return 0;
}
