/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/doc.h"

#include "base/error.h"
#include "base/path.h"
#include "cli/show/colour.h"
#include "cli/show/exit.h"
#include "cli/show/wrap.h"
#include "holdback/holdback.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define FLOW_SIZE  65536
#define LIMIT_SIZE PATH_TREE_MAX /* one change with the longest path */

void doc_begin(struct doc *doc, bool is_json, const char *command)
{
	buf_init(&doc->out, LIMIT_SIZE);
	doc->is_json = is_json;
	if (!is_json) {
		doc->has_colour = colour_is_on(STDOUT_FILENO);
		doc->columns = wrap_columns(STDOUT_FILENO);
		return;
	}
	json_init(&doc->json, &doc->out);
	json_object(&doc->json);
	doc_uint(doc, "version", DOC_VERSION);
	doc_str(doc, "command", command);
}

void doc_done(struct doc *doc)
{
	buf_done(&doc->out);
}

static int write_out(const struct buf *out)
{
	return out->len > 0 && fwrite(out->data, 1, out->len, stdout) !=
				       out->len
		       ? -errno
		       : 0;
}

/* What is there ends with a line: a command flows between two of them. */
static int put_wrapped(const struct doc *doc)
{
	auto_buf struct buf out = BUF_INIT(2 * LIMIT_SIZE);
	int r = wrap_text(doc->out.data, doc->out.len, doc->columns, &out);

	return r < 0 ? r : write_out(&out);
}

static int put(struct doc *doc, struct hb_error *err)
{
	int r;

	if (doc->out.error)
		return hb_fail(err, doc->out.error, "cannot make the text");
	if (doc->fd > 0) {
		r = hb_write_to(doc->fd, doc->out.data, doc->out.len, err);
		buf_cut(&doc->out, 0);
		return r;
	}
	if (doc->columns > 0 && !doc->is_raw)
		r = put_wrapped(doc);
	else
		r = write_out(&doc->out);
	if (r < 0)
		return hb_fail(err, r, "cannot write to stdout");
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

void evidence_init(struct evidence *evidence)
{
	buf_init(&evidence->findings, LIMIT_SIZE);
	buf_init(&evidence->conflicts, LIMIT_SIZE);
	buf_init(&evidence->merge_conflicts, LIMIT_SIZE);
	buf_init(&evidence->denied, LIMIT_SIZE);
}

void evidence_done(struct evidence *evidence)
{
	buf_done(&evidence->findings);
	buf_done(&evidence->conflicts);
	buf_done(&evidence->merge_conflicts);
	buf_done(&evidence->denied);
}

void evidence_begin(struct doc *doc)
{
	buf_init(&doc->out, LIMIT_SIZE);
	json_init(&doc->json, &doc->out);
	doc->is_json = true;
}

void evidence_add(struct buf *list, struct doc *doc)
{
	size_t before = list->len;

	if (doc->out.error || list->error)
		return;
	(void)buf_add_char(list, list->len > 0 ? ',' : '[');
	if (buf_add(list, doc->out.data, doc->out.len) < 0)
		buf_cut(list, before);
}

static void add_evidence(struct doc *doc, const char *key,
			 const struct buf *list)
{
	auto_buf struct buf whole = BUF_INIT(LIMIT_SIZE + 1);

	if (list->len == 0 || buf_add(&whole, list->data, list->len) < 0 ||
	    buf_add_char(&whole, ']') < 0)
		return;
	json_key(&doc->json, key);
	json_text(&doc->json, whole.data, whole.len);
}

/* The command's own are no failures of ours. */
static int code_of(const struct hb_error *err)
{
	if (err->code == HB_E_NOT_FOUND)
		return HB_EXIT_NOT_FOUND;
	if (err->code == HB_E_NOT_EXECUTABLE)
		return HB_EXIT_NOT_EXECUTABLE;
	return (int)cli_exit_of(err);
}

void doc_error(int fd, const char *command, const struct hb_error *err,
	       const struct evidence *evidence)
{
	auto_doc struct doc doc = { .fd = fd };

	doc_begin(&doc, true, command);
	json_key(&doc.json, "error");
	json_object(&doc.json);
	doc_uint(&doc, "code", (uint64_t)code_of(err));
	doc_str(&doc, "text", err->text);
	doc_str(&doc, "reason", hb_strerror(err->code));
	doc_str(&doc, "fix", cli_fix_of(err));
	json_end(&doc.json);
	if (evidence) {
		add_evidence(&doc, "findings", &evidence->findings);
		add_evidence(&doc, "conflicts", &evidence->conflicts);
		add_evidence(&doc, "merge_conflicts",
			     &evidence->merge_conflicts);
		add_evidence(&doc, "denied", &evidence->denied);
	}
	(void)doc_end(&doc, NULL);
}
