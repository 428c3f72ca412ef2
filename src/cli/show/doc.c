/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/doc.h"

#include "base/error.h"
#include "cli/show/exit.h"

#include <errno.h>
#include <stdio.h>

#define FLOW_SIZE  65536
#define LIMIT_SIZE (16U << 20) /* one change with the longest path */

void doc_begin(struct doc *doc, bool is_json, const char *command)
{
	buf_init(&doc->out, LIMIT_SIZE);
	doc->is_json = is_json;
	if (!is_json)
		return;
	json_init(&doc->json, &doc->out);
	json_object(&doc->json);
	doc_uint(doc, "version", DOC_VERSION);
	doc_str(doc, "command", command);
}

void doc_done(struct doc *doc)
{
	buf_done(&doc->out);
}

static int put(struct doc *doc, struct hb_error *err)
{
	if (doc->out.error)
		return hb_fail(err, doc->out.error, "cannot make the text");
	if (doc->out.len > 0 &&
	    fwrite(doc->out.data, 1, doc->out.len, stdout) != doc->out.len)
		return hb_fail(err, -errno, "cannot write to stdout");
	buf_cut(&doc->out, 0);
	return 0;
}

int doc_flow(struct doc *doc, struct hb_error *err)
{
	return doc->out.len < FLOW_SIZE && !doc->out.error ? 0 : put(doc, err);
}

int doc_end(struct doc *doc, struct hb_error *err)
{
	int r;

	if (doc->is_json) {
		json_end(&doc->json);
		(void)json_end_text(&doc->json);
		(void)buf_add_char(&doc->out, '\n');
	}
	r = put(doc, err);
	if (r >= 0 && fflush(stdout) != 0)
		return hb_fail(err, -errno, "cannot write to stdout");
	return r;
}

void doc_str(struct doc *doc, const char *key, const char *value)
{
	json_key(&doc->json, key);
	json_str(&doc->json, value);
}

void doc_uint(struct doc *doc, const char *key, uint64_t value)
{
	json_key(&doc->json, key);
	json_uint(&doc->json, value);
}

void doc_bool(struct doc *doc, const char *key, bool value)
{
	json_key(&doc->json, key);
	json_bool(&doc->json, value);
}

void doc_error(const char *command, const struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };

	doc_begin(&doc, true, command);
	json_key(&doc.json, "error");
	json_object(&doc.json);
	doc_uint(&doc, "code", (uint64_t)cli_exit_of(err));
	doc_str(&doc, "text", err->text);
	doc_str(&doc, "reason", hb_strerror(err->code));
	doc_str(&doc, "fix", cli_fix_of(err));
	json_end(&doc.json);
	(void)doc_end(&doc, NULL);
}
