/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/cmd_session.h"
#include "cli/doc.h"
#include "cli/table.h"

/* `holdback stop` */

int cmd_stop(const struct cmd_call *call, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	struct hb_store *store = NULL;
	const char *ref;
	int rest, r;

	r = cmd_session_operand(call, false, &ref, &rest, err);
	if (r >= 0)
		r = cmd_open_store(call, false, &store, err);
	if (r >= 0)
		r = hb_stop(store, ref, err);
	hb_store_free(store);
	if (r < 0)
		return r;
	doc_begin(&doc, call->values->json, "stop");
	if (doc.is_json)
		doc_bool(&doc, "live", r > 0);
	else
		(void)buf_add_str(&doc.out,
				  r > 0 ? "stopped\n" : "nothing runs in it\n");
	return doc_end(&doc, err);
}
