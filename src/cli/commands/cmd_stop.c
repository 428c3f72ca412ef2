/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"

/* `holdback stop` and `holdback resume` */

struct answer {
	int (*ask)(struct hb_store *store, const char *ref,
		   struct hb_error *err);
	const char *command, *member, *yes, *no;
};

static int ask(const struct cmd_call *call, const struct answer *answer,
	       struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	struct hb_store *store = NULL;
	const char *ref;
	int rest, r;

	r = cmd_session_operand(call, false, &ref, &rest, err);
	if (r >= 0)
		r = cmd_open_store(call, false, &store, err);
	if (r >= 0 && cmd_names_none(ref))
		r = choose_only(store, answer->command, CHOOSE_BY_LIVE, err);
	if (r >= 0)
		r = answer->ask(store, ref, err);
	hb_store_free(store);
	if (r < 0)
		return r;
	doc_begin(&doc, call->values->json, answer->command);
	if (doc.is_json)
		doc_bool(&doc, answer->member, r > 0);
	else
		(void)buf_add_str(&doc.out, r > 0 ? answer->yes : answer->no);
	return doc_end(&doc, err);
}

int cmd_stop(const struct cmd_call *call, struct hb_error *err)
{
	static const struct answer answer = { hb_stop, "stop", "live",
					      "stopped\n",
					      "nothing runs in it\n" };

	return ask(call, &answer, err);
}

int cmd_resume(const struct cmd_call *call, struct hb_error *err)
{
	static const struct answer answer = { hb_resume, "resume", "resumed",
					      "goes on\n",
					      "it is not stopped\n" };

	return ask(call, &answer, err);
}
