/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/commands/cmd_session.h"
#include "cli/commands/commit.h"
#include "cli/front/table.h"
#include "holdback/session.h"

/*
 * `holdback sync`: the guarded way back.  Gate, list of everything, question,
 * commit; or one of the other things that can be done with what is pending.
 */

static int sync_session(const struct cmd_call *call, struct hb_session *session,
			int rest, void *ctx, struct hb_error *err)
{
	struct commit c = { .command = "sync",
			    .call = call,
			    .session = session,
			    .rest = rest,
			    .has_preview = !call->values->automatic,
			    .is_silent = call->values->automatic };

	int r = hb_session_take(session, err);

	(void)ctx;
	return r < 0 ? r : cmd_commit_run(&c, err);
}

int cmd_sync(const struct cmd_call *call, struct hb_error *err)
{
	const struct cli_values *v = call->values;
	struct cli_values silent;
	struct cmd_call other = *call;

	if (v->dry_run + v->automatic + v->reset + v->sync_status > 1)
		return hb_fail(
			err, -HB_E_USAGE,
			"--dry-run, --auto, --reset and --status exclude "
			"each other");
	if (v->sync_status)
		return cmd_status(call, err);
	if (v->reset && v->only.n + v->except.n + v->resources.n > 0) {
		hb_fix(err, "holdback rollback PATH discards a part");
		return hb_fail(err, -HB_E_USAGE,
			       "--reset is about all that is pending");
	}
	if (v->reset)
		return cmd_rollback(call, err);
	silent = *v;
	silent.yes = v->yes || v->automatic;
	/* That is what it is for. */
	silent.live = true;
	other.values = &silent;
	return cmd_with_only_session(&other, HB_OPEN_CHANGE, "sync",
				     CHOOSE_BY_PENDING, false, sync_session,
				     NULL, err);
}
