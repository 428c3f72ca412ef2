/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/error.h"
#include "box/host.h"
#include "holdback/holdback.h"
#include "plan/bwrap/bwrap.h"
#include "plan/plan.h"
#include "plan/plan_print.h"
#include "sys/proc.h"
#include "view/prepare.h"

/* `holdback plan`: what would be done, without doing it. */

#define TEXT_LIMIT (16U << 20)

static int print(const struct plan *plan, enum hb_form form, char **ret_text,
		 struct hb_error *err)
{
	auto_buf struct buf out = BUF_INIT(TEXT_LIMIT);
	int r;

	r = form == HB_FORM_JSON ? plan_print_json(plan, &out, err)
				 : plan_print(plan, &out, err);
	if (r < 0)
		return r;
	r = buf_take(&out, ret_text, NULL);
	return r < 0 ? hb_fail(err, r, "cannot print the plan") : 0;
}

int hb_plan_run(const struct hb_run_options *options, enum hb_form form,
		char **ret_text, struct hb_error *err)
{
	struct run run = { 0 };
	int r;

	r = run_prepare(&run, options, NULL, NULL, err);
	if (r >= 0)
		r = run_plan(&run, NULL, err);
	if (r >= 0)
		r = print(&run.plan, form, ret_text, err);
	run_done(&run);
	return r;
}

int hb_plan_bwrap(int argc, char *const argv[], enum hb_form form,
		  char **ret_text, struct hb_error *err)
{
	const struct bwrap_world world = {
		.read_fd = host_read_fd,
		.is_root = host_is_root(),
		.gid = sys_getgid(),
		.can_unshare_user = host_can_unshare_user,
		.can_unshare_cgroup = host_can_unshare_cgroup,
	};
	struct bwrap_call call = { 0 };
	struct plan plan;
	int r;

	plan_init(&plan);
	r = bwrap_parse(argc, argv, &world, &plan, &call, err);
	if (r >= 0 && call.request != BWRAP_RUN) {
		hb_fix(err, "give the options and the command of a bwrap call");
		r = hb_fail(err, -HB_E_USAGE, "nothing would run");
	}
	if (r >= 0)
		r = print(&plan, form, ret_text, err);
	plan_done(&plan);
	return r;
}
