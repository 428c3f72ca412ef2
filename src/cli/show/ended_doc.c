/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/ended_doc.h"

#include "cli/show/doc.h"
#include "holdback/holdback.h"

void ended_doc_begin(struct doc *doc, const struct hb_run_result *result)
{
	doc_begin(doc, true, "run");
	doc_str(doc, "event", "ended");
	if (result->session[0])
		doc_str(doc, "session", result->session);
	doc_bool(doc, "kept", result->session[0]);
	doc_uint(doc, "status", (uint64_t)result->status);
	if (result->death.signal > 0)
		doc_uint(doc, "signal", (uint64_t)result->death.signal);
	doc_uint(doc, "ms", (uint64_t)result->ms);
	if (result->is_verified) {
		doc_uint(doc, "looked", result->outside.n_looked);
		doc_uint(doc, "changed_outside", result->outside.n_found);
		doc_uint(doc, "unread", result->outside.n_unread);
	}
	if (result->n_nested >= 0)
		doc_uint(doc, "nested_refused", (uint64_t)result->n_nested);
}
