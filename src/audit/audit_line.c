/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit_line.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/time_text.h"
#include "holdback/session.h"

#include <string.h>

/* Two paths and a text, each byte of which may be written as twelve. */
#define LINE_LIMIT ((size_t)1 << 17)

/* What the number of a report is called in a record; NULL: it is left out. */
static const char *const numbers[HB_REPORT_KINDS] = {
	[HB_REPORT_STARTED] = "pid",   [HB_REPORT_STOPPED] = "left",
	[HB_REPORT_ENDED] = "status",  [HB_REPORT_REFUSED] = "code",
	[HB_REPORT_FAILED] = "code",   [HB_REPORT_DONE] = "operations",
	[HB_REPORT_CAUGHT] = "missed", [HB_REPORT_CALLED] = "pid",
};

static void add_str(struct json *j, const char *key, const char *value)
{
	if (!value || !value[0])
		return;
	json_key(j, key);
	json_str(j, value);
}

static const char *const severities[] = {
	[HB_SEVERITY_WARN] = "warn",
	[HB_SEVERITY_ASK] = "ask",
	[HB_SEVERITY_DENY] = "deny",
};

static void add_finding(struct json *j, const struct hb_finding *finding)
{
	add_str(j, "rule", finding->rule);
	add_str(j, "severity", severities[finding->severity]);
	add_str(j, "detail", finding->detail);
	json_key(j, "allowed");
	json_bool(j, finding->is_allowed);
}

static void add_net(struct json *j, const struct hb_net *net)
{
	const struct {
		const char *key;
		uint64_t n;
	} counts[] = {
		{ "connection", net->id }, { "port", net->port },
		{ "up", net->up },	   { "down", net->down },
		{ "ms", net->ms },	   { "n", net->n },
	};

	add_str(j, "verdict", net->verdict);
	add_str(j, "host", net->host);
	add_str(j, "rule", net->rule);
	add_str(j, "address", net->address);
	add_str(j, "protocol", net->protocol);
	add_str(j, "cause", net->cause);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		json_key(j, counts[i].key);
		json_uint(j, counts[i].n);
	}
}

/* A path of a call is that of the view; in the project it is relative. */
static void add_called(struct json *j, const char *key, const char *path,
		       const char *project)
{
	size_t n = project ? strlen(project) : 0;

	if (path && n > 1 && path_is_beneath(path, project) && path[n] == '/')
		path += n + 1;
	add_str(j, key, path);
}

static void add_call(struct json *j, const struct hb_report *report,
		     const char *project)
{
	const struct hb_call *call = report->call;

	if (report->kind == HB_REPORT_CALLED) {
		add_str(j, "verb", report->text);
		add_called(j, "path", report->path, project);
		add_called(j, "to", call->to, project);
	} else {
		add_str(j, "text", report->text);
	}
	json_key(j, "pid");
	json_uint(j, report->n);
	add_str(j, "program", call->program);
	add_str(j, "fix", call->fix);
}

static void add_members(struct json *j, const struct hb_report *report,
			const struct line_about *about)
{
	unsigned members = hb_report_members(report->kind);

	if (members & HB_HAS_CALL && report->call) {
		add_call(j, report, about->project);
		return;
	}
	if (members & HB_HAS_SOURCE && report->source &&
	    !(about->project && strcmp(report->source, about->project) == 0))
		add_str(j, "source", report->source);
	if (members & HB_HAS_PATH)
		add_str(j, "path", report->path);
	if (members & HB_HAS_TEXT)
		add_str(j, "text", report->text);
	if (members & HB_HAS_N && numbers[report->kind]) {
		json_key(j, numbers[report->kind]);
		json_uint(j, report->n);
	}
	if (members & HB_HAS_FINDING && report->finding)
		add_finding(j, report->finding);
	if (members & HB_HAS_NET && report->net)
		add_net(j, report->net);
}

int audit_line(const struct hb_report *report, const struct line_about *about,
	       struct timespec when, bool answer, struct buf *out)
{
	char text[TIME_TEXT_SIZE];
	auto_buf struct buf line = BUF_INIT(LINE_LIMIT);
	struct json j;

	if (report->call)
		when = (struct timespec){ .tv_sec = report->call->seconds,
					  .tv_nsec =
						  report->call->nanoseconds };
	json_init(&j, &line);
	json_object(&j);
	add_str(&j, "time", time_text(when, text));
	add_str(&j, "kind", hb_report_name(report->kind));
	add_str(&j, "session",
		report->session ? report->session : about->session);
	add_str(&j, "id", about->id);
	add_str(&j, "project", about->project);
	add_members(&j, report, about);
	if (report->kind == HB_REPORT_ASKED) {
		json_key(&j, "answer");
		json_bool(&j, answer);
	}
	json_end(&j);
	(void)buf_add_char(&line, '\n');
	/* The number comes in the place of the brace. */
	return line.error ? line.error
			  : buf_add(out, line.data + 1, line.len - 1);
}
