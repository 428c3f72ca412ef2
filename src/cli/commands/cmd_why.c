/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"
#include "cli/commands/cmd.h"
#include "cli/commands/net/why_host.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "holdback/holdback.h"
#include "holdback/net.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* `holdback why` and `holdback caps`: what a command would find. */

static void add_why_json(struct doc *doc, const struct hb_why *why)
{
	doc_str(doc, "path", why->path);
	doc_str(doc, "inside", why->inside);
	doc_str(doc, "what", why->what);
	doc_str(doc, "reason", why->by.words);
	why_add_origin(doc, &why->by);
}

static void add_why(void *context, const struct hb_why *why)
{
	struct doc *doc = context;

	if (doc->is_json) {
		add_why_json(doc, why);
		return;
	}
	(void)quote_name(why->path, strlen(why->path), &doc->out);
	if (strcmp(why->path, why->inside) != 0) {
		(void)buf_add_str(&doc->out, " -> ");
		(void)quote_name(why->inside, strlen(why->inside), &doc->out);
	}
	(void)buf_add_fmt(&doc->out, ": %s: %s\n", why->what, why->words);
	if (why->by.key) {
		(void)buf_add_fmt(&doc->out, "%s = ", why->by.key);
		(void)quote_name(why->by.value, strlen(why->by.value),
				 &doc->out);
		(void)buf_add_str(&doc->out, "  ");
	}
	(void)buf_add_fmt(&doc->out, "# %s\n", why->by.words);
}

int cmd_why(const struct cmd_call *call, struct hb_error *err)
{
	struct cli_values values = { 0 };
	struct hb_run_options options;
	auto_doc struct doc doc = { 0 };
	int r;

	if (call->n_operands == 0)
		return cmd_last_denial(call, err);
	r = cmd_run_words(call, call->operands + 1, &values, &options, err);
	if (r < 0)
		return r;
	doc_begin(&doc, call->values->json, "why");
	r = hb_net_is_host(call->operands[0])
		    ? hb_net_why(&options, call->operands[0], why_add_host,
				 &doc, err)
		    : hb_why(&options, call->operands[0], add_why, &doc, err);
	return r < 0 ? r : doc_end(&doc, err);
}

struct report {
	struct doc doc;
	unsigned n_wrong;
};

/* One line: whether it is as it has to be, what it is, what was found. */
static void add_check(struct report *report, const char *name, bool is_ok,
		      const char *found)
{
	struct doc *doc = &report->doc;

	if (!is_ok)
		report->n_wrong++;
	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "name", name);
		doc_bool(doc, "ok", is_ok);
		doc_str(doc, "found", found);
		json_end(&doc->json);
		return;
	}
	(void)buf_add_fmt(&doc->out, "%-5s %-13s %s\n", is_ok ? "ok" : "fail",
			  name, found);
}

static void add_audit(struct report *report, const struct hb_audit *audit)
{
	char found[64];

	for (size_t i = 0; i < HB_CAP_SETS; i++) {
		(void)snprintf(found, sizeof(found), "%016" PRIx64,
			       audit->sets[i].caps);
		add_check(report, audit->sets[i].name, audit->sets[i].caps == 0,
			  found);
	}
	add_check(report, "no-new-privs", audit->has_no_new_privs,
		  audit->has_no_new_privs ? "yes" : "no");
	(void)snprintf(found, sizeof(found), "%u filter%s", audit->n_filters,
		       audit->n_filters == 1 ? "" : "s");
	add_check(report, "seccomp", audit->has_filter, found);
	if (audit->landlock_version)
		(void)snprintf(found, sizeof(found), "%d ruleset%s, version %d",
			       audit->n_rulesets,
			       audit->n_rulesets == 1 ? "" : "s",
			       audit->landlock_version);
	else
		(void)snprintf(found, sizeof(found), "not in this kernel");
	add_check(report, "landlock", audit->n_rulesets > 0, found);
}

static int audit_self(const struct cmd_call *call, struct hb_error *err)
{
	struct report report = { 0 };
	struct hb_audit audit;
	int r;

	r = hb_audit_self(&audit, err);
	if (r < 0)
		return r;
	doc_begin(&report.doc, call->values->json, "caps");
	if (report.doc.is_json) {
		json_key(&report.doc.json, "checks");
		json_array(&report.doc.json);
	}
	add_audit(&report, &audit);
	if (report.doc.is_json)
		json_end(&report.doc.json);
	r = doc_end(&report.doc, err);
	doc_done(&report.doc);
	if (r < 0)
		return r;
	return report.n_wrong ? HB_EXIT_DIFFERENT : HB_EXIT_OK;
}

int cmd_caps(const struct cmd_call *call, struct hb_error *err)
{
	static char caps[] = "caps", inside[] = "--inside", json[] = "--json";
	char *words[] = { caps, inside, call->values->json ? json : NULL,
			  NULL };
	int status = 0, r;

	if (call->values->inside)
		return audit_self(call, err);
	r = hb_audit_run(words, call->envp, &status, err);
	return r < 0 ? r : status;
}
