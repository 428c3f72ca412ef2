/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "holdback/live.h"

#include <stdio.h>
#include <string.h>

/* `holdback mark` and fork. */

static int mark(const struct cmd_call *call, struct hb_session *session,
		int rest, void *ctx, struct hb_error *err)
{
	const char *given = NULL;
	auto_doc struct doc doc = { 0 };
	int r;

	(void)ctx;
	r = hb_session_mark(session, call->operands[rest], &given, err);
	if (r < 0)
		return r;
	doc_begin(&doc, call->values->json, "mark");
	if (doc.is_json) {
		doc_str(&doc, "name", hb_session_info(session)->name);
		doc_str(&doc, "mark", given);
	} else {
		(void)buf_add_fmt(&doc.out, "marked session %s as %s\n",
				  hb_session_info(session)->name, given);
	}
	return doc_end(&doc, err);
}

/* Inside, where neither the session nor its name can be reached. */
static int mark_turn(const struct cmd_call *call, struct hb_error *err)
{
	if (call->n_operands > 0 || call->values->live || call->values->json)
		return hb_fail(err, -HB_E_USAGE,
			       "--turn stands alone: no session, name or other "
			       "option");
	return hb_turn_ask(err);
}

int cmd_mark(const struct cmd_call *call, struct hb_error *err)
{
	const char *ref;
	int rest, r;

	if (call->values->turn)
		return mark_turn(call, err);
	r = cmd_session_operand(call, true, &ref, &rest, err);
	if (r >= 0 && call->n_operands > rest + 1)
		r = hb_fail(err, -HB_E_USAGE, "a mark has one name");
	if (r >= 0)
		r = cmd_with_only_session(call, HB_OPEN_CHANGE, "mark",
					  CHOOSE_BY_PENDING, true, mark, NULL,
					  err);
	return cmd_offer_live(call, r, err);
}

static int fork_session(const struct cmd_call *call, struct hb_session *session,
			int rest, void *ctx, struct hb_error *err)
{
	const char *of = hb_session_info(session)->name;
	const char *name = call->operands[rest];
	auto_doc struct doc doc = { 0 };
	int r = hb_session_fork(session, name, call->values->from, err);

	(void)ctx;
	if (r < 0)
		return r;
	doc_begin(&doc, call->values->json, "fork");
	if (doc.is_json) {
		doc_str(&doc, "name", name);
		doc_str(&doc, "of", of);
	} else {
		(void)buf_add_fmt(&doc.out, "made session %s of %s\n", name,
				  of);
	}
	return doc_end(&doc, err);
}

int cmd_fork(const struct cmd_call *call, struct hb_error *err)
{
	const char *ref;
	int rest, r;

	r = cmd_session_operand(call, true, &ref, &rest, err);
	if (r >= 0 && call->n_operands != rest + 1) {
		hb_fix(err, "holdback fork @SESSION NEW");
		r = hb_fail(err, -HB_E_USAGE,
			    "a fork needs the name of the new session");
	}
	if (r >= 0)
		r = cmd_with_only_session(call, HB_OPEN_CHANGE, "fork",
					  CHOOSE_BY_PENDING, true, fork_session,
					  NULL, err);
	return cmd_offer_live(call, r, err);
}
