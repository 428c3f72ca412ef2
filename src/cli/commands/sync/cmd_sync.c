/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/commands/cmd_session.h"
#include "cli/commands/commit.h"
#include "cli/commands/sync/sync_every.h"
#include "cli/front/table.h"
#include "cli/show/say.h"
#include "holdback/session.h"

/*
 * `holdback sync`: the guarded way back.  Gate, list of everything, question,
 * commit; or one of the other things that can be done with what is pending.
 */

#define LINE_SIZE ((size_t)1 << 20)

/* A document has them as a member. */
static void say_held(const struct commit *c)
{
	for (size_t i = 0; !c->call->values->json && i < c->held.n; i++) {
		auto_buf struct buf line = BUF_INIT(LINE_SIZE);

		if (partial_show(c->said.info, &c->held.list[i], &line) >= 0)
			cli_put(buf_str(&line));
	}
}

static int sync_session(const struct cmd_call *call, struct hb_session *session,
			int rest, void *ctx, struct hb_error *err)
{
	const struct cli_values *v = call->values;
	struct commit c = { .command = "sync",
			    .call = call,
			    .session = session,
			    .rest = rest,
			    .has_preview = !v->automatic && !v->partial,
			    .is_silent = v->automatic || v->partial,
			    .is_partial = v->partial };
	int r = v->partial ? hb_session_take_part(session, err)
			   : hb_session_take(session, err);

	(void)ctx;
	if (r >= 0)
		r = cmd_commit_run(&c, err);
	say_held(&c);
	partial_done(&c.held);
	return r;
}

/* Which of these were given together with others. */
static int check_words(const struct cli_values *v, struct hb_error *err)
{
	bool repeats = v->every > 0;

	if (v->dry_run + v->automatic + v->reset + v->sync_status > 1)
		return hb_fail(
			err, -HB_E_USAGE,
			"--dry-run, --auto, --reset and --status exclude "
			"each other");
	if ((v->partial || repeats) && (v->reset || v->sync_status))
		return hb_fail(err, -HB_E_USAGE,
			       "--partial and --every commit: they exclude "
			       "--reset and --status");
	if (repeats && (v->dry_run || v->json))
		return hb_fail(err, -HB_E_USAGE,
			       "--every repeats itself: it excludes --dry-run "
			       "and --json");
	if ((v->first > 0 || v->quiet || v->last) && !repeats)
		return hb_fail(err, -HB_E_USAGE, "%s needs --every",
			       v->first > 0 ? "--first"
			       : v->quiet   ? "--quiet"
					    : "--last");
	if (v->reset && v->only.n + v->except.n + v->resources.n > 0) {
		hb_fix(err, "holdback rollback PATH discards a part");
		return hb_fail(err, -HB_E_USAGE,
			       "--reset is about all that is pending");
	}
	return 0;
}

int cmd_sync(const struct cmd_call *call, struct hb_error *err)
{
	const struct cli_values *v = call->values;
	struct cli_values silent;
	struct cmd_call other = *call;
	int r = check_words(v, err);

	if (r < 0)
		return r;
	if (v->sync_status)
		return cmd_status(call, err);
	if (v->reset)
		return cmd_rollback(call, err);
	silent = *v;
	silent.yes = v->yes || v->automatic || v->partial || v->every > 0;
	/* That is what it is for. */
	silent.live = true;
	other.values = &silent;
	if (v->every > 0)
		return sync_every(&other, err);
	return cmd_with_only_session(&other, HB_OPEN_CHANGE, "sync",
				     CHOOSE_BY_PENDING, false, sync_session,
				     NULL, err);
}
