/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/cmd_session.h"
#include "cli/doc.h"
#include "cli/table.h"

#include <stdio.h>

/* `holdback mark` and fork. */

static int mark(const struct cmd_call *call, struct hb_session *session,
		const char *name, struct hb_error *err)
{
	const char *given = NULL;
	auto_doc struct doc doc = { 0 };
	int r;

	r = hb_session_mark(session, name, &given, err);
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

int cmd_mark(const struct cmd_call *call, struct hb_error *err)
{
	struct hb_session *session = NULL;
	struct hb_store *store = NULL;
	const char *ref;
	int rest, r;

	r = cmd_session_operand(call, true, &ref, &rest, err);
	if (r >= 0 && call->n_operands > rest + 1)
		r = hb_fail(err, -HB_E_USAGE, "a mark has one name");
	if (r >= 0)
		r = cmd_open_session(call, HB_OPEN_CHANGE, &store, &session,
				     err);
	if (r >= 0)
		r = mark(call, session, call->operands[rest], err);
	hb_session_free(session);
	hb_store_free(store);
	return r;
}

static int report_fork(const struct cmd_call *call, const char *of,
		       const char *name, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };

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
	struct hb_session *session = NULL;
	struct hb_store *store = NULL;
	const char *ref, *name = NULL;
	int rest, r;

	r = cmd_session_operand(call, true, &ref, &rest, err);
	if (r >= 0 && call->n_operands != rest + 1) {
		hb_fix(err, "holdback fork @SESSION NEW");
		r = hb_fail(err, -HB_E_USAGE,
			    "a fork needs the name of the new session");
	}
	if (r >= 0) {
		name = call->operands[rest];
		r = cmd_open_session(call, HB_OPEN_CHANGE, &store, &session,
				     err);
	}
	if (r >= 0)
		r = hb_session_fork(session, name, call->values->from, err);
	if (r >= 0)
		r = report_fork(call, hb_session_info(session)->name, name,
				err);
	hb_session_free(session);
	hb_store_free(store);
	return r;
}
