/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/report.h"
#include "box/box.h"
#include "box/host.h"
#include "plan/bwrap/bwrap.h"
#include "plan/environment/env.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * The bubblewrap front end: its command line, its words, its exit codes, on our
 * own engine.  Nothing here decides anything; the parser and the box do.
 */

#define VERSION_LINE "bubblewrap 0.11.1\n"
#define USAGE_LIMIT  65536

/* Severity as in syslog, for --level-prefix. */
enum severity {
	SEVERITY_ERROR = 3,
	SEVERITY_WARNING = 4,
};

static void complain(bool level_prefix, enum severity severity,
		     const char *text)
{
	char prefix[8] = "";

	if (level_prefix)
		(void)snprintf(prefix, sizeof(prefix), "<%d>", (int)severity);
	(void)fprintf(stderr, "%sbwrap: %s\n", prefix, text);
}

/* The parser speaks: by then the call says whether lines have a level. */
static bool hear(void *context, const struct hb_report *report)
{
	const struct bwrap_call *call = context;

	complain(call->level_prefix, SEVERITY_WARNING, report->text);
	return false;
}

static int fail(const struct bwrap_call *call, const struct hb_error *err)
{
	char line[HB_TEXT_SIZE + 128];

	/* The kernel's reason follows our words; ours would say it twice. */
	if (err->code >= HB_E_UNSUPPORTED)
		(void)snprintf(line, sizeof(line), "%s", err->text);
	else
		hb_error_format(err, line, sizeof(line));
	complain(call->level_prefix, SEVERITY_ERROR, line);
	if (err->fix[0])
		(void)fprintf(stderr, "fix: %s\n", err->fix);
	return 1;
}

static int print_usage(const char *argv0, FILE *to, int status)
{
	auto_buf struct buf text = BUF_INIT(USAGE_LIMIT);

	if (bwrap_usage(argv0, &text, NULL) < 0)
		return 1;
	return fputs(buf_str(&text), to) < 0 ? 1 : status;
}

static int run(const struct plan *plan, const struct bwrap_call *call)
{
	struct box_result result = { 0 };
	struct hb_error err = { 0 };
	auto_free char **envp = NULL;

	if (plan_environment(plan, environ, &envp, &err) < 0)
		return fail(call, &err);
	if (box_run(plan, envp, NULL, &result, &err) < 0)
		return fail(call, &err);
	return result.status;
}

int main(int argc, char **argv)
{
	struct bwrap_call call = { 0 };
	const struct hb_listener listener = { .hear = hear, .context = &call };
	const struct bwrap_world world = {
		.read_fd = host_read_fd,
		.is_root = host_is_root(),
		.gid = host_gid(),
		.can_unshare_user = host_can_unshare_user,
		.can_unshare_cgroup = host_can_unshare_cgroup,
		.listener = &listener,
	};
	struct hb_error err = { 0 };
	struct plan plan;
	int status;

	plan_init(&plan);
	if (host_check_caller(&err) < 0 ||
	    bwrap_parse(argc, argv, &world, &plan, &call, &err) < 0) {
		plan_done(&plan);
		return fail(&call, &err);
	}
	plan.settings |= PLAN_BWRAP_WORDS;
	switch (call.request) {
	case BWRAP_HELP:
		status = print_usage(argv[0], stdout, 0);
		break;
	case BWRAP_VERSION:
		status = fputs(VERSION_LINE, stdout) < 0;
		break;
	case BWRAP_USAGE:
		status = print_usage(argv[0], stderr, 1);
		break;
	case BWRAP_RUN:
	default:
		status = run(&plan, &call);
		break;
	}
	plan_done(&plan);
	return status;
}
