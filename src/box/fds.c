/* SPDX-License-Identifier: Apache-2.0 */
#include "box/state.h"
#include "sys/file.h"
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

/*
 * The caller's 0, 1 and 2 lie in the host's mounts.  A directory among them is
 * a door: to all that is below it and, by "..", to the host's root.
 */
static int check_stdio(struct hb_error *err)
{
	struct stat st;

	for (int i = 0; i < 3; i++) {
		if (sys_fstat(i, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		hb_fix(err, "redirect it to a file, or to /dev/null");
		return hb_fail(err, -HB_E_USAGE,
			       "descriptor %d is a directory of the host", i);
	}
	return 0;
}

int step_fds(struct box *box, struct hb_error *err)
{
	unsigned rest = 3;
	int r;

	if (!is_set(box, PLAN_CLOSE_FDS))
		return 0;
	r = check_stdio(err);
	if (r < 0)
		return r;
	if (box->report >= 0)
		rest = (unsigned)box->report + 1;
	if (rest > 4)
		r = sys_close_range(3, rest - 2);
	if (r >= 0)
		r = sys_close_range(rest, ~0U);
	if (r < 0)
		return hb_fail(err, r, "cannot close descriptors");
	return 0;
}
