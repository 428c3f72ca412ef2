/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/findings.h"

#include "base/quote.h"
#include "cli/show/say.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_SIZE ((size_t)4 << 20)
#define LINES_SHOWN   10 /* of a check command */
#define COMMIT_SHOWN  10 /* digits of its id */

/* By enum hb_severity; how many lines of each are enough. */
static const struct {
	const char *rest;
	uint64_t max;
} severities[] = {
	[HB_SEVERITY_WARN] = { "warnings", 20 },
	[HB_SEVERITY_ASK] = { "questions", 100 },
	[HB_SEVERITY_DENY] = { "refusals", 100 },
};

static const char *word_of(const struct hb_finding *finding)
{
	return finding->is_allowed ? "allowed"
				   : hb_severity_name(finding->severity);
}

/* The last lines, each by itself. */
static void add_output(const char *text, struct buf *out)
{
	const char *from = text + strlen(text);

	for (int i = 0; i < LINES_SHOWN && from > text; i++) {
		do
			from--;
		while (from > text && from[-1] != '\n');
	}
	while (*from) {
		size_t n = strcspn(from, "\n");

		(void)buf_add_str(out, "\n    ");
		if (n > 0)
			(void)quote_name(from, n, out);
		from += n + (from[n] == '\n');
	}
}

/* What a reference is called, by the beginning of its name. */
static const struct {
	const char *start, *words;
} refs[] = {
	{ "refs/heads/", "on branch " },
	{ "refs/tags/", "on tag " },
	{ "refs/remotes/", "on remote branch " },
	{ "refs/stash", "in the stash" },
	{ "", "on " },
};

/* " in commit abc1234 on branch foo" */
static void add_where(const struct hb_finding *finding, struct buf *out)
{
	const char *ref = finding->ref;
	size_t i = 0;

	if (!ref)
		return;
	if (!finding->commit) {
		(void)buf_add_str(out, " in ");
		(void)quote_name(ref, strlen(ref), out);
		return;
	}
	(void)buf_add_fmt(out, " in commit %.*s ", COMMIT_SHOWN,
			  finding->commit);
	while (strncmp(ref, refs[i].start, strlen(refs[i].start)) != 0)
		i++;
	ref += strlen(refs[i].start);
	(void)buf_add_str(out, refs[i].words);
	if (*ref)
		(void)quote_name(ref, strlen(ref), out);
}

int finding_show(const struct hb_session_info *info,
		 const struct hb_finding *finding, struct buf *out)
{
	const struct hb_change change = { .resource = finding->resource };

	(void)buf_add_fmt(out, "%s: ", word_of(finding));
	(void)show_path(info, &change, finding->path, out);
	if (finding->line > 0)
		(void)buf_add_fmt(out, ":%llu",
				  (unsigned long long)finding->line);
	add_where(finding, out);
	(void)buf_add_str(out, ": ");
	(void)quote_name(finding->reason, strlen(finding->reason), out);
	if (finding->detail) {
		(void)buf_add_str(out, ": ");
		(void)quote_name(finding->detail, strlen(finding->detail), out);
	}
	(void)buf_add_fmt(out, " [%s]", finding->rule);
	if (finding->output)
		add_output(finding->output, out);
	return out->error;
}

void finding_show_json(const struct hb_session_info *info,
		       const struct hb_finding *finding, struct doc *doc)
{
	json_object(&doc->json);
	doc_str(doc, "rule", finding->rule);
	doc_str(doc, "severity", hb_severity_name(finding->severity));
	doc_bool(doc, "allowed", finding->is_allowed);
	if (finding->class)
		doc_str(doc, "class", finding->class);
	doc_str(doc, "source", info->resources[finding->resource].source);
	doc_str(doc, "path", finding->path);
	if (finding->line > 0)
		doc_uint(doc, "line", finding->line);
	if (finding->detail)
		doc_str(doc, "detail", finding->detail);
	doc_str(doc, "reason", finding->reason);
	if (finding->output)
		doc_str(doc, "output", finding->output);
	if (finding->repository)
		doc_str(doc, "repository", finding->repository);
	if (finding->commit)
		doc_str(doc, "commit", finding->commit);
	if (finding->ref)
		doc_str(doc, "ref", finding->ref);
	json_end(&doc->json);
}

void findings_say(void *ctx, const struct hb_finding *finding)
{
	struct findings_said *said = ctx;
	struct buf line = BUF_INIT(LINE_MAX_SIZE);

	said->is_in_git |= finding->repository && !finding->is_allowed;
	if (said->evidence && !finding->is_allowed) {
		auto_doc struct doc doc = { 0 };

		evidence_begin(&doc);
		finding_show_json(said->info, finding, &doc);
		evidence_add(&said->evidence->findings, &doc);
	}
	if (finding->is_allowed ||
	    said->n_said[finding->severity]++ >=
		    severities[finding->severity].max ||
	    said->is_silent)
		return;
	if (finding_show(said->info, finding, &line) >= 0 &&
	    buf_add_char(&line, '\n') >= 0)
		cli_put(buf_str(&line));
	buf_done(&line);
}

void findings_say_rest(const struct findings_said *said)
{
	char line[96];

	for (int i = HB_SEVERITY_WARN; i <= HB_SEVERITY_DENY; i++) {
		if (said->n_said[i] <= severities[i].max || said->is_silent)
			continue;
		(void)snprintf(line, sizeof(line),
			       "and %llu more %s; holdback gate has all",
			       (unsigned long long)(said->n_said[i] -
						    severities[i].max),
			       severities[i].rest);
		cli_say(line);
	}
}

void findings_count_json(const struct hb_gate_result *result, struct doc *doc)
{
	json_key(&doc->json, "gate");
	json_object(&doc->json);
	doc_uint(doc, "warn", result->n_warnings);
	doc_uint(doc, "ask", result->n_asked);
	doc_uint(doc, "allowed", result->n_allowed);
	doc_uint(doc, "deny", result->n_denied);
	json_end(&doc->json);
}
