/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/table.h"
#include "holdback/holdback.h"

#include <errno.h>
#include <stdio.h>

/* `holdback doctor`: a line for what works, a paragraph for what does not. */

#define TEXT_LIMIT   (1U << 20)
#define JSON_VERSION 1

static const char *const verdicts[] = {
	[HB_VERDICT_OK] = "ok",
	[HB_VERDICT_WARN] = "warn",
	[HB_VERDICT_FAIL] = "fail",
};

struct report {
	struct buf *out;
	struct json *json; /* NULL: text */
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

static void add_member(struct json *j, const char *key, const char *value)
{
	json_key(j, key);
	json_str(j, value);
}

static void add_json(struct json *j, const struct hb_check *check)
{
	json_object(j);
	add_member(j, "name", check->name);
	add_member(j, "verdict", verdicts[check->verdict]);
	add_member(j, "used_for", check->used_for);
	if (check->found[0])
		add_member(j, "found", check->found);
	if (check->verdict != HB_VERDICT_OK)
		add_member(j, "lost", check->lost);
	if (check->fix[0])
		add_member(j, "fix", check->fix);
	json_end(j);
}

static void tell(void *context, const struct hb_check *check)
{
	struct report *report = context;

	report->n[check->verdict]++;
	if (report->json)
		add_json(report->json, check);
	else
		add_text(report->out, check);
}

static int check_json(const struct cmd_call *call, struct buf *out,
		      struct hb_error *err)
{
	struct report report = { .out = out };
	struct json j;
	int n, r;

	json_init(&j, out);
	report.json = &j;
	json_object(&j);
	json_key(&j, "version");
	json_int(&j, JSON_VERSION);
	json_key(&j, "checks");
	json_array(&j);
	n = hb_doctor(call->envp, tell, &report, err);
	if (n < 0)
		return n;
	json_end(&j);
	json_key(&j, "ok");
	json_bool(&j, n == 0);
	json_end(&j);
	r = json_end_text(&j);
	(void)buf_add_char(out, '\n');
	return r < 0 ? hb_fail(err, r, "cannot make the document") : n;
}

static int check_text(const struct cmd_call *call, struct buf *out,
		      struct hb_error *err)
{
	struct report report = { .out = out };
	int n;

	n = hb_doctor(call->envp, tell, &report, err);
	if (n < 0)
		return n;
	(void)buf_add_fmt(out, "%u ok, %u warn, %u fail: %s\n",
			  report.n[HB_VERDICT_OK], report.n[HB_VERDICT_WARN],
			  report.n[HB_VERDICT_FAIL],
			  n == 0 ? "holdback run works here"
				 : "holdback run does not work here");
	return n;
}

int cmd_doctor(const struct cmd_call *call, struct hb_error *err)
{
	auto_buf struct buf out = BUF_INIT(TEXT_LIMIT);
	int n;

	n = call->values->json ? check_json(call, &out, err)
			       : check_text(call, &out, err);
	if (n < 0)
		return n;
	if (out.error)
		return hb_fail(err, out.error, "cannot make the text");
	if (fputs(buf_str(&out), stdout) < 0 || fflush(stdout) != 0)
		return hb_fail(err, -errno, "cannot write the text");
	return n == 0 ? HB_EXIT_OK : HB_EXIT_UNSUPPORTED;
}
