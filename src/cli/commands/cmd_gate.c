/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/findings.h"
#include "cli/show/reports.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

/* `holdback gate`. */

struct gate {
	const struct cmd_call *call;
	struct hb_session *session;
	struct doc doc;
	/* Of the document, while the gate is asked: it hears no errors. */
	int failure;
	struct hb_error why;
};

static void add_finding(void *ctx, const struct hb_finding *finding)
{
	struct gate *g = ctx;
	const struct hb_session_info *info = hb_session_info(g->session);

	if (g->doc.is_json) {
		finding_show_json(info, finding, &g->doc);
	} else {
		(void)finding_show(info, finding, &g->doc.out);
		(void)buf_add_char(&g->doc.out, '\n');
	}
	if (g->failure >= 0)
		g->failure = doc_flow(&g->doc, &g->why);
}

static void add_result(struct gate *g, const struct hb_gate_result *result,
		       const struct hb_summary *summary)
{
	struct buf *out = &g->doc.out;

	if (g->doc.is_json) {
		json_end(&g->doc.json);
		findings_count_json(result, &g->doc);
		doc_bool(&g->doc, "passes",
			 result->n_asked + result->n_denied == 0);
		doc_str(&g->doc, "hash", summary->hash);
		return;
	}
	if (result->n_asked + result->n_denied == 0)
		(void)buf_add_str(out, "nothing stands against it");
	else
		(void)buf_add_fmt(out, "%llu to be allowed, %llu denied",
				  (unsigned long long)result->n_asked,
				  (unsigned long long)result->n_denied);
	if (result->n_allowed > 0)
		(void)buf_add_fmt(out, " · %llu allowed",
				  (unsigned long long)result->n_allowed);
	if (result->n_warnings > 0)
		(void)buf_add_fmt(out, " · %llu warning%s",
				  (unsigned long long)result->n_warnings,
				  result->n_warnings == 1 ? "" : "s");
	(void)buf_add_char(out, '\n');
}

static int look(struct gate *g, struct hb_error *err)
{
	const struct cli_values *v = g->call->values;
	const struct hb_changes_options changes_options = {
		.filter = cmd_filter(g->call, g->call->n_operands),
		.with_ignored = v->ignored,
		.without_hash = !v->json,
	};
	struct hb_gate_check check = { 0 };
	const struct hb_gate_options options = {
		.allow = v->allow.words,
		.n_allow = v->allow.n,
		.check = &check,
	};
	struct hb_changes *changes = NULL;
	struct hb_gate_result result = { 0 };
	int r;

	r = hb_session_gate_check(g->session, v->gate_run, &check, err);
	if (r >= 0)
		r = hb_session_changes(g->session, &changes_options, &changes,
				       err);
	if (r < 0)
		return r;
	doc_begin(&g->doc, v->json, "gate");
	if (g->doc.is_json) {
		json_key(&g->doc.json, "findings");
		json_array(&g->doc.json);
	}
	g->call->reports->found = add_finding;
	g->call->reports->found_ctx = g;
	r = hb_session_gate(g->session, changes, &options, &result, err);
	if (r >= 0 && g->failure < 0) {
		*err = g->why;
		r = g->failure;
	}
	if (r >= 0) {
		add_result(g, &result, hb_changes_summary(changes));
		r = doc_end(&g->doc, err);
	}
	hb_changes_free(changes);
	if (r < 0)
		return r;
	return result.n_asked + result.n_denied > 0 ? HB_EXIT_DENIED
						    : HB_EXIT_OK;
}

static int add_rule(void *ctx, const struct hb_rule *rule, struct hb_error *err)
{
	struct doc *doc = ctx;

	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "rule", rule->id);
		doc_str(doc, "severity", rule->severity);
		if (rule->class)
			doc_str(doc, "class", rule->class);
		doc_str(doc, "reason", rule->reason);
		json_end(&doc->json);
	} else {
		(void)buf_add_fmt(&doc->out, "%-16s %-5s %-16s ", rule->id,
				  rule->severity,
				  rule->class ? rule->class : "-");
		(void)quote_name(rule->reason, strlen(rule->reason), &doc->out);
		(void)buf_add_char(&doc->out, '\n');
	}
	return doc_flow(doc, err);
}

static int list_rules(struct gate *g, struct hb_error *err)
{
	int r;

	doc_begin(&g->doc, g->call->values->json, "gate");
	if (g->doc.is_json) {
		json_key(&g->doc.json, "rules");
		json_array(&g->doc.json);
	}
	r = hb_session_rules(g->session, add_rule, &g->doc, err);
	if (r >= 0 && g->doc.is_json)
		json_end(&g->doc.json);
	return r < 0 ? r : doc_end(&g->doc, err);
}

static int gate(const struct cmd_call *call, struct hb_session *session,
		int rest, void *ctx, struct hb_error *err)
{
	struct gate g = { .call = call, .session = session };
	int r;

	(void)rest;
	(void)ctx;
	r = call->values->rules ? list_rules(&g, err) : look(&g, err);
	doc_done(&g.doc);
	return r;
}

int cmd_gate(const struct cmd_call *call, struct hb_error *err)
{
	return cmd_with_session(call, HB_OPEN_CHECK, false, gate, NULL, err);
}
