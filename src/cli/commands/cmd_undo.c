/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/colour.h"
#include "cli/show/doc.h"
#include "cli/show/reports.h"
#include "cli/show/say.h"
#include "cli/show/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* `holdback undo` and redo. */

/* More lines than this are not read; a document has all of them. */
#define LINES_MAX 50

/* What is called, and how that is said. */
struct reversal {
	const char *command, *word;
	int (*fn)(struct hb_session *session, struct hb_commit_result *result,
		  struct hb_error *err);
	const char *fix; /* of a conflict */
	const struct hb_session_info *info;
	struct evidence *evidence; /* gets each conflict; or NULL */
	uint64_t n;		   /* conflicts */
};

/* "conflict: PATH: why", as commit has it. */
static void say_conflict(void *ctx, const struct hb_report *report)
{
	const struct hb_change at = { .resource = report->resource };
	bool has_colour = colour_is_on(STDERR_FILENO);
	auto_buf struct buf line = BUF_INIT(1U << 22);
	struct reversal *reversal = ctx;
	auto_doc struct doc doc = { 0 };

	if (reversal->n++ < LINES_MAX) {
		(void)buf_add_fmt(&line, "%sconflict:%s ",
				  colour_begin(has_colour, COLOUR_DELETED),
				  colour_end(has_colour, COLOUR_DELETED));
		(void)show_path(reversal->info, &at, report->path, &line);
		(void)buf_add_fmt(&line, ": %s\n", report->text);
		cli_put(buf_str(&line));
	}
	if (!reversal->evidence)
		return;
	evidence_begin(&doc);
	json_object(&doc.json);
	doc_str(&doc, "source", report->source);
	doc_str(&doc, "path", report->path);
	doc_str(&doc, "conflict", report->text);
	json_end(&doc.json);
	evidence_add(&reversal->evidence->conflicts, &doc);
}

static int report(const struct cmd_call *call, const struct reversal *reversal,
		  const struct hb_commit_result *result, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };

	doc_begin(&doc, call->values->json, reversal->command);
	if (doc.is_json) {
		doc_uint(&doc, "operations", result->n_operations);
		doc_uint(&doc, "kept_objects", result->n_kept);
		doc_bool(&doc, "complete", result->is_complete);
		return doc_end(&doc, err);
	}
	(void)buf_add_fmt(&doc.out, "%s %llu change%s", reversal->word,
			  (unsigned long long)result->n_operations,
			  result->n_operations == 1 ? "" : "s");
	if (result->n_kept > 0)
		(void)buf_add_str(
			&doc.out,
			" · new objects of git stay in the repository");
	(void)buf_add_char(&doc.out, '\n');
	return doc_end(&doc, err);
}

static int reverse(const struct cmd_call *call, struct hb_session *session,
		   int rest, void *ctx, struct hb_error *err)
{
	struct reversal *reversal = ctx;
	struct hb_commit_result result = { 0 };
	int r;

	(void)rest;
	reversal->info = hb_session_info(session);
	reversal->evidence = call->evidence;
	call->reports->against = say_conflict;
	call->reports->against_ctx = reversal;
	r = reversal->fn(session, &result, err);
	call->reports->against = NULL;
	if (reversal->n > LINES_MAX)
		(void)fprintf(stderr, "conflict: and %llu more\n",
			      (unsigned long long)reversal->n - LINES_MAX);
	if (r == -HB_E_CONFLICT)
		hb_fix(err, "%s", reversal->fix);
	return r < 0 ? r : report(call, reversal, &result, err);
}

int cmd_undo(const struct cmd_call *call, struct hb_error *err)
{
	struct reversal undo = {
		.command = "undo",
		.word = "undid",
		.fn = hb_session_undo,
		.fix = "undo never overwrites a later edit: change these paths "
		       "by hand",
	};

	return cmd_with_only_session(call, HB_OPEN_CHANGE, "undo",
				     CHOOSE_BY_PAST, false, reverse, &undo,
				     err);
}

int cmd_redo(const struct cmd_call *call, struct hb_error *err)
{
	struct reversal redo = {
		.command = "redo",
		.word = "redid",
		.fn = hb_session_redo,
		.fix = "holdback diff shows the pending changes, and holdback "
		       "commit puts them in place",
	};

	return cmd_with_only_session(call, HB_OPEN_CHANGE, "redo",
				     CHOOSE_BY_PAST, false, reverse, &redo,
				     err);
}
