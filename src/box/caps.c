/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/caps.h"

#include "box/state.h"
#include "sys/proc.h"

/*
 * Privileges: bounding set and no_new_privs for everything in the box, then
 * the command's own sets.  Capabilities that the plan keeps are ambient, the
 * only form that survives the execution of an ordinary program.
 */

int step_bound(struct box *box, struct hb_error *err)
{
	int r;

	/*
	 * A process without capability cannot; with no_new_privs it gets none.
	 */
	r = is_set(box, PLAN_BARE) ? 0 : sys_caps_bound(box->caps);
	if (r < 0)
		return hb_fail(err, r, "cannot shrink the bounding set");
	r = sys_set_no_new_privs();
	if (r < 0)
		return hb_fail(err, r, "cannot set no_new_privs");
	return 0;
}

int step_caps(struct box *box, struct hb_error *err)
{
	const struct plan *plan = box->plan;
	struct caps caps = { 0 };
	int r;

	/*
	 * root of whom nothing was said keeps its sets as they are, and by the
	 * usual rules loses them with another uid.
	 */
	if (box->uid == 0 && plan->caps_keep == ~0ULL && plan->caps_add == 0)
		return 0;
	if (box->caps) {
		/* "All" is more than there are, and than we may have. */
		r = sys_caps_get(&caps);
		if (r < 0)
			return hb_fail(err, r, "cannot read the capabilities");
		box->caps &= caps.permitted;
	}
	caps.effective = caps.permitted = caps.inheritable = box->caps;
	r = sys_caps_set(&caps);
	if (r < 0)
		return hb_fail(err, r, "cannot set the capabilities");
	if (!box->caps)
		return 0;
	r = sys_caps_ambient(box->caps);
	if (r < 0)
		return hb_fail(err, r, "cannot pass capabilities on");
	return 0;
}
