/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/num.h"
#include "base/quote.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/show.h"

#include <string.h>

/* `holdback gc`. */

/* What undo needs is kept for two weeks. */
#define OLDER_THAN ((uint64_t)14 * 24 * 60 * 60)

static int show(void *ctx, const struct hb_garbage *garbage,
		struct hb_error *err)
{
	struct doc *doc = ctx;

	if (doc->is_json) {
		json_object(&doc->json);
		if (garbage->session)
			doc_str(doc, "session", garbage->session);
		doc_str(doc, "what", garbage->what);
		doc_uint(doc, "n", garbage->n);
		doc_uint(doc, "bytes", garbage->bytes);
		doc_bool(doc, "kept", garbage->is_kept);
		json_end(&doc->json);
		return doc_flow(doc, err);
	}
	if (garbage->is_kept)
		(void)buf_add_str(&doc->out, "kept: ");
	if (garbage->session) {
		(void)quote_name(garbage->session, strlen(garbage->session),
				 &doc->out);
		(void)buf_add_str(&doc->out, ": ");
	}
	(void)buf_add_fmt(&doc->out, "%s", garbage->what);
	if (garbage->n > 1)
		(void)buf_add_fmt(&doc->out, " (%llu)",
				  (unsigned long long)garbage->n);
	(void)buf_add_char(&doc->out, '\n');
	return doc_flow(doc, err);
}

static int read_options(const struct cli_values *values,
			struct hb_gc_options *ret, struct hb_error *err)
{
	uint64_t seconds = OLDER_THAN;

	if (values->older_than &&
	    (num_duration(values->older_than, &seconds) < 0 ||
	     seconds > INT32_MAX)) {
		hb_fix(err, "a number and s, m, h or d: --older-than 30d");
		return hb_fail(err, -HB_E_USAGE,
			       "option '--older-than': '%.40s' is no time",
			       values->older_than);
	}
	*ret = (struct hb_gc_options){ .older_than = (int64_t)seconds,
				       .dry_run = values->dry_run };
	return 0;
}

int cmd_gc(const struct cmd_call *call, struct hb_error *err)
{
	const struct cli_values *values = call->values;
	auto_doc struct doc doc = { 0 };
	struct hb_store *store = NULL;
	struct hb_gc_options options;
	uint64_t bytes = 0;
	int r;

	r = read_options(values, &options, err);
	if (r >= 0)
		r = cmd_open_store(call, false, &store, err);
	if (r < 0)
		return r;
	doc_begin(&doc, values->json, "gc");
	if (doc.is_json) {
		json_key(&doc.json, "removed");
		json_array(&doc.json);
	}
	r = hb_store_gc(store, &options, show, &doc, &bytes, err);
	hb_store_free(store);
	if (r < 0)
		return r;
	if (doc.is_json) {
		json_end(&doc.json);
		doc_uint(&doc, "bytes", bytes);
		doc_bool(&doc, "dry_run", values->dry_run);
	} else {
		(void)buf_add_str(&doc.out,
				  values->dry_run ? "would free " : "freed ");
		(void)show_size(bytes, &doc.out);
		(void)buf_add_char(&doc.out, '\n');
	}
	return doc_end(&doc, err);
}
