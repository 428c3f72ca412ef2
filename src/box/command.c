/* SPDX-License-Identifier: Apache-2.0 */
#include "box/stage.h"
#include "box/state.h"
#include "sys/proc.h"

void command_main(struct box *box)
{
	struct hb_error err = { 0 };
	int r;

	r = stage_run_command(box, &err);
	if (r >= 0) {
		/* Without jobs to control, init's word of the end is enough. */
		if (is_set(box, PLAN_JOBS) || !box->has_init)
			message_send(box->report, MESSAGE_STARTED, 0);
		(void)step_exec(box, &err);
		err.stage = STAGE_EXEC;
	}
	message_error(box->report, &err);
	sys_exit(1);
}
