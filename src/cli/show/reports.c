/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/reports.h"

#include "base/env.h"
#include "base/num.h"
#include "cli/show/doc.h"
#include "cli/show/say.h"
#include "holdback/holdback.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_AFTER 1000 /* ms */

enum when {
	NEVER,	/* for other listeners */
	ALWAYS, /* also if the user wants to hear of failures alone */
	UNLESS_QUIET,
	TO_PERSON, /* the same, and on a terminal alone */
};

struct way {
	enum when when;
	bool (*show)(struct reports *reports, const struct hb_report *report);
};

static bool say(struct reports *reports, const struct hb_report *report)
{
	(void)reports;
	cli_say(report->text);
	return false;
}

/* The kind is part of the line. */
static bool say_kind(struct reports *reports, const struct hb_report *report)
{
	char line[PATH_MAX];

	(void)reports;
	(void)snprintf(line, sizeof(line), "%s: %s",
		       hb_report_name(report->kind), report->text);
	cli_warn(line);
	return false;
}

static bool ask(struct reports *reports, const struct hb_report *report)
{
	char answer[16], line[HB_TEXT_SIZE + 32];

	(void)reports;
	if (!hb_is_terminal(STDIN_FILENO) || !hb_is_terminal(STDERR_FILENO))
		return false;
	(void)snprintf(line, sizeof(line), "holdback: %s [y/N] ", report->text);
	cli_put(line);
	(void)fflush(stderr);
	if (!fgets(answer, sizeof(answer), stdin))
		return false;
	return answer[0] == 'y' || answer[0] == 'Y';
}

/* One line that is written over, and gone at the end. */
static bool show_progress(struct reports *reports,
			  const struct hb_report *report)
{
	(void)reports;
	(void)fputs("\r\033[K", stderr);
	if (report->text && report->n > 0)
		(void)fprintf(stderr, "holdback: %s: %llu", report->text,
			      (unsigned long long)report->n);
	else if (report->text)
		(void)fprintf(stderr, "holdback: %s", report->text);
	(void)fflush(stderr);
	return false;
}

/* Each command shows them in its own way. */
static bool find(struct reports *reports, const struct hb_report *report)
{
	if (reports->found)
		reports->found(reports->found_ctx, report->finding);
	return false;
}

static bool stand_against(struct reports *reports,
			  const struct hb_report *report)
{
	if (reports->against)
		reports->against(reports->against_ctx, report);
	return false;
}

/* Of a service.  A manager that cannot be told is a line, and no failure. */
static void notify(const struct reports *reports, const char *text)
{
	struct hb_error err = { 0 };
	char line[HB_TEXT_SIZE + 128];

	if (!reports->envp || hb_notify(reports->envp, text, &err) >= 0)
		return;
	(void)snprintf(line, sizeof(line), "%s: %s", err.text,
		       hb_strerror(err.code));
	cli_warn(line);
}

/* The changes are still to be written to disk. */
static bool tell_ended(struct reports *reports, const struct hb_report *report)
{
	(void)report;
	notify(reports, "STOPPING=1\nSTATUS=the box has ended\n");
	return false;
}

/* A program that waits for the session's name reads it here. */
static bool tell_started(struct reports *reports,
			 const struct hb_report *report)
{
	auto_doc struct doc doc = { .fd = reports->json_fd };
	char text[HB_SESSION_NAME_SIZE + 64];

	(void)snprintf(reports->session, sizeof(reports->session), "%s",
		       report->session ? report->session : "");
	(void)snprintf(text, sizeof(text),
		       "READY=1\nSTATUS=session %s is live\n",
		       reports->session);
	notify(reports, text);
	if (reports->json_fd == 0)
		return false;
	doc_begin(&doc, true, reports->command);
	doc_str(&doc, "event", "started");
	if (reports->session[0])
		doc_str(&doc, "session", reports->session);
	if (report->n > 0)
		doc_uint(&doc, "pid", report->n);
	/* A reader that is gone is no reason to end the command. */
	(void)doc_end(&doc, NULL);
	return false;
}

/*
 * How a kind is shown.  One without a line here does not compile.  Errors are
 * said where they are returned to, and so are refusals.
 */
/* clang-format off */
#define SHOW_said     { UNLESS_QUIET, say }
#define SHOW_noted    { TO_PERSON, say }
#define SHOW_weakened { ALWAYS, say_kind }
#define SHOW_asked    { ALWAYS, ask }
#define SHOW_progress { ALWAYS, show_progress }
#define SHOW_ordered  { NEVER, NULL }
#define SHOW_policy   { NEVER, NULL }
#define SHOW_started  { ALWAYS, tell_started }
#define SHOW_lasted   { NEVER, NULL }
#define SHOW_stopped  { ALWAYS, say }
#define SHOW_resumed  { ALWAYS, say }
#define SHOW_ended    { ALWAYS, tell_ended }
#define SHOW_denied   { UNLESS_QUIET, say }
#define SHOW_caught   { NEVER, NULL }
#define SHOW_net      { NEVER, NULL }
#define SHOW_called   { NEVER, NULL }
#define SHOW_gap      { NEVER, NULL }
#define SHOW_finding  { ALWAYS, find }
#define SHOW_begun    { NEVER, NULL }
#define SHOW_done     { NEVER, NULL }
#define SHOW_failed   { NEVER, NULL }
#define SHOW_refused  { NEVER, NULL }
#define SHOW_conflicted { ALWAYS, stand_against }
#define SHOW_changed  { NEVER, NULL }
#define SHOW_held     { NEVER, NULL }
#define SHOW_left     { ALWAYS, say }
/* clang-format on */

static const struct way ways[] = {
#define ROW(id, name, members) [HB_REPORT_##id] = SHOW_##name,
	HB_REPORTS(ROW)
#undef ROW
};

static bool is_shown(enum when when, bool is_quiet)
{
	switch (when) {
	case NEVER:
		return false;
	case ALWAYS:
		return true;
	case UNLESS_QUIET:
		return !is_quiet;
	case TO_PERSON:
		return !is_quiet && hb_is_terminal(STDERR_FILENO);
	}
	return true;
}

static bool hear(void *context, const struct hb_report *report)
{
	const struct way *way = &ways[report->kind];

	return is_shown(way->when, report->is_quiet) &&
	       way->show(context, report);
}

/* Tests need not wait: they say how long nothing is shown. */
static int64_t progress_after(char *const *envp)
{
	const char *value = env_get(envp, "HB_TEST_PROGRESS_AFTER");
	int64_t ms;

	if (!value || num_int(value, 0, PROGRESS_AFTER, &ms) < 0)
		return PROGRESS_AFTER;
	return ms;
}

void reports_init(struct reports *reports, char *const *envp)
{
	*reports = (struct reports){
		.listener = { .hear = hear,
			      .context = reports,
			      .wants_progress = hb_is_terminal(STDERR_FILENO),
			      .progress_after = progress_after(envp) },
	};
}

void reports_say(enum hb_report_kind kind, const char *text)
{
	(void)hear(NULL, &(struct hb_report){ .kind = kind, .text = text });
}
