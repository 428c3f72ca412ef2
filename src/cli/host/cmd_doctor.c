/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/json.h"
#include "cli/commands/cmd.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "holdback/holdback.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* `holdback doctor`: a line for what works, a paragraph for what does not. */

static const char *const verdicts[] = {
	[HB_VERDICT_OK] = "ok",
	[HB_VERDICT_WARN] = "warn",
	[HB_VERDICT_FAIL] = "fail",
};

struct report {
	struct doc doc;
	unsigned n[HB_VERDICT_FAIL + 1];
};

static void add_text(struct buf *out, const struct hb_check *check)
{
	(void)buf_add_fmt(out, "%-4s  %-18s ", verdicts[check->verdict],
			  check->name);
	if (!check->was_tried) {
		(void)buf_add_fmt(out, "%s\n", check->found);
		return;
	}
	(void)buf_add_str(out, check->used_for);
	if (check->verdict == HB_VERDICT_OK) {
		if (check->found[0])
			(void)buf_add_fmt(out, " (%s)", check->found);
		(void)buf_add_char(out, '\n');
		return;
	}
	(void)buf_add_fmt(out, "\n      found: %s\n      without it: %s\n",
			  check->found, check->lost);
	if (check->fix[0])
		(void)buf_add_fmt(out, "      fix: %s\n", check->fix);
}

static void add_json(struct doc *doc, const struct hb_check *check)
{
	json_object(&doc->json);
	doc_str(doc, "name", check->name);
	doc_str(doc, "verdict", verdicts[check->verdict]);
	doc_str(doc, "used_for", check->used_for);
	if (check->found[0])
		doc_str(doc, "found", check->found);
	if (check->verdict != HB_VERDICT_OK)
		doc_str(doc, "lost", check->lost);
	if (check->fix[0])
		doc_str(doc, "fix", check->fix);
	json_end(&doc->json);
}

static void tell(void *context, const struct hb_check *check)
{
	struct report *report = context;

	report->n[check->verdict]++;
	if (report->doc.is_json)
		add_json(&report->doc, check);
	else
		add_text(&report->doc.out, check);
}

static int check_all(const struct cmd_call *call, struct report *report,
		     struct hb_error *err)
{
	struct doc *doc = &report->doc;
	int n, r;

	doc_begin(doc, call->values->json, "doctor");
	if (doc->is_json) {
		json_key(&doc->json, "checks");
		json_array(&doc->json);
	}
	n = hb_doctor(call->envp, tell, report, err);
	if (n < 0)
		return n;
	if (doc->is_json) {
		json_end(&doc->json);
		doc_bool(doc, "ok", n == 0);
	} else {
		(void)buf_add_fmt(&doc->out, "%u ok, %u warn, %u fail: %s\n",
				  report->n[HB_VERDICT_OK],
				  report->n[HB_VERDICT_WARN],
				  report->n[HB_VERDICT_FAIL],
				  n == 0 ? "holdback run works here"
					 : "holdback run does not work here");
	}
	r = doc_end(doc, err);
	return r < 0 ? r : n;
}

/* What doctor itself runs in a box; "wait" is to be killed with it. */
static int look_inside(const char *word)
{
	if (strcmp(word, "wait") != 0)
		return hb_doctor_inside(word);
	if (puts("here") < 0 || fflush(stdout) != 0)
		return HB_EXIT_INTERNAL;
	for (;;)
		(void)pause();
}

int cmd_doctor(const struct cmd_call *call, struct hb_error *err)
{
	struct report report = { 0 };
	int n;

	if (call->values->inside_word)
		return look_inside(call->values->inside_word);
	n = check_all(call, &report, err);
	doc_done(&report.doc);
	if (n < 0)
		return n;
	return n == 0 ? HB_EXIT_OK : HB_EXIT_UNSUPPORTED;
}
