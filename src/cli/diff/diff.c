/* SPDX-License-Identifier: Apache-2.0 */
#include "base/env.h"
#include "base/error.h"
#include "cli/commands/cmd_session.h"
#include "cli/diff/commits.h"
#include "cli/diff/ended.h"
#include "cli/diff/git2.h"
#include "cli/diff/git_settings.h"
#include "cli/diff/paint.h"
#include "cli/diff/patch.h"
#include "cli/diff/tally.h"
#include "cli/front/table.h"
#include "cli/show/delivery_text.h"
#include "cli/show/doc.h"
#include "cli/show/git_text.h"
#include "cli/show/gone_text.h"
#include "cli/show/reports.h"
#include "cli/show/say.h"
#include "cli/show/show.h"
#include "cli/show/state_text.h"
#include "holdback/database.h"
#include "holdback/git.h"
#include "holdback/holdback.h"
#include "holdback/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * libexec/holdback/diff: the text of changes.  An executable of its own because
 * it alone needs libgit2, and `diff --name-status` must not pay for that.
 */

#define COLUMNS	  80
#define WORDS_MAX ((size_t)64 << 20)

static unsigned find_columns(char *const *envp)
{
	const char *said = env_get(envp, "COLUMNS");
	unsigned long n = said ? strtoul(said, NULL, 10) : 0;

	if (n == 0 || n > 10000)
		n = hb_terminal_columns(STDOUT_FILENO);
	return n ? (unsigned)n : COLUMNS;
}

struct ignored_list {
	const struct hb_session_info *info;
	struct paint *paint;
};

static int paint_ignored(void *ctx, const struct hb_ignored *ignored,
			 struct hb_error *err)
{
	const struct ignored_list *list = ctx;
	auto_buf struct buf words = BUF_INIT(WORDS_MAX);

	if (show_ignored_words(list->info, ignored, &words) < 0)
		return hb_fail(err, words.error,
			       "cannot name the ignored files");
	paint_words(list->paint, PAINT_META, "# ignored: %s", buf_str(&words));
	return paint_flow(list->paint, err);
}

static int count_state(void *ctx, const struct hb_state_file *file,
		       struct hb_error *err)
{
	(void)file;
	(void)err;
	++*(size_t *)ctx;
	return 0;
}

/* A patch is the project's; that there is more is said as git ignores it. */
static int paint_state(struct hb_session *session, struct paint *paint,
		       struct hb_error *err)
{
	size_t n = 0;
	int r = hb_session_state(session, count_state, &n, err);

	if (n > 0)
		paint_words(paint, PAINT_META,
			    "# agent state: %zu file%s, kept for the next run "
			    "(holdback state)",
			    n, n == 1 ? "" : "s");
	return r;
}

/* Of type hb_git_fn. */
static int paint_ref(void *ctx, const struct hb_git_ref *ref,
		     struct hb_error *err)
{
	struct paint *paint = ctx;
	auto_buf struct buf line = BUF_INIT(WORDS_MAX);

	if (git_text_line(ref, &line) < 0)
		return hb_fail(err, line.error, "cannot name a reference");
	paint_words(paint, PAINT_META, "# git: %s", buf_str(&line));
	return paint_flow(paint, err);
}

static void paint_deliveries(struct hb_session *session, struct paint *paint)
{
	size_t n;
	const struct hb_delivery *list = hb_session_deliveries(session, &n);

	for (size_t i = 0; i < n; i++) {
		auto_buf struct buf line = BUF_INIT(WORDS_MAX);

		if (delivery_text_line(&list[i], &line))
			paint_words(paint, PAINT_META, "# git: %s",
				    buf_str(&line));
	}
}

static int paint_patches(const struct cmd_call *call,
			 struct hb_session *session, struct hb_changes *changes,
			 struct paint *paint, struct hb_error *err)
{
	struct ignored_list list = { hb_session_info(session), paint };
	struct hb_change change;
	struct show_walk walk;
	struct patch patch;
	int r;

	patch_init(&patch, paint, hb_session_info(session), changes,
		   call->values->binary);
	show_walk_init(&walk, changes, call->values->verbose);
	while ((r = show_walk_next(&walk, &change, err)) == 1) {
		r = patch_change(&patch, &change, err);
		if (r >= 0)
			r = paint_flow(paint, err);
		if (r < 0)
			break;
	}
	if (r >= 0)
		r = patch_end(&patch, err);
	if (r >= 0 && !call->values->since)
		r = hb_changes_git(session, changes, paint_ref, paint, err);
	if (r >= 0 && !call->values->since)
		paint_deliveries(session, paint);
	if (r >= 0)
		r = hb_changes_ignored(changes, paint_ignored, &list, err);
	if (r >= 0)
		r = paint_state(session, paint, err);
	show_walk_done(&walk);
	patch_done(&patch);
	return r < 0 ? r : 0;
}

static int paint_stat(struct tally *tally, unsigned columns,
		      struct paint *paint, struct hb_error *err)
{
	auto_buf struct buf line = BUF_INIT(4096);
	int r;

	r = tally_paint(tally, columns, paint, err);
	if (r < 0)
		return r;
	r = show_summary_lines(hb_changes_summary(tally->changes),
			       &tally->lines, &line);
	if (r < 0)
		return hb_fail(err, r, "cannot make the text");
	paint_words(paint, PAINT_PLAIN, "%s", buf_str(&line));
	return 0;
}

static int print_json(const struct cli_values *values,
		      struct hb_session *session, struct tally *tally,
		      struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	int r;

	doc_begin(&doc, true, "diff");
	json_key(&doc.json, "session");
	json_object(&doc.json);
	show_session_json(tally->info, &doc);
	json_end(&doc.json);
	r = tally_json(tally, !values->stat, &doc, err);
	if (r >= 0 && !values->since)
		r = git_show(session, tally->changes, &doc, err);
	if (r >= 0 && values->commits)
		r = commits_json(session, tally->changes, &doc, err);
	if (r >= 0)
		r = show_ignored(tally->info, tally->changes, &doc, err);
	if (r >= 0)
		r = state_show(session, &doc, err);
	if (r < 0)
		return r;
	show_summary_lines_json(hb_changes_summary(tally->changes),
				&tally->lines, &doc);
	return doc_end(&doc, err);
}

/* What is written to, which may be a pager. */
struct sink {
	struct settings settings;
	struct paint paint;
	unsigned columns;
	struct hb_pager *pager; /* NULL: none */
};

static int show_with(const struct cmd_call *call, struct hb_session *session,
		     struct hb_changes *changes, struct sink *sink,
		     struct hb_error *err)
{
	const struct cli_values *values = call->values;
	struct tally tally;
	int r = 0;

	tally_init(&tally, hb_session_info(session), changes, values->verbose);
	if (values->stat || values->json)
		r = tally_count(&tally, err);
	if (r >= 0)
		r = settings_start_pager(&sink->settings, session, call->envp,
					 &sink->pager, err);
	sink->paint.pager = sink->pager;
	if (r >= 0 && values->json)
		r = print_json(values, session, &tally, err);
	else if (r >= 0 && values->commits)
		r = commits_paint(session, changes, &sink->paint, err);
	else if (r >= 0 && values->stat)
		r = paint_stat(&tally, sink->columns, &sink->paint, err);
	else if (r >= 0)
		r = paint_patches(call, session, changes, &sink->paint, err);
	tally_done(&tally);
	return r < 0 ? r : paint_end(&sink->paint, err);
}

static int show(const struct cmd_call *call, struct hb_session *session,
		int rest, void *ctx, struct hb_error *err)
{
	struct sink *sink = ctx;
	const struct cli_values *values = call->values;
	const struct hb_changes_options options = {
		.filter = cmd_filter(call, rest),
		.without_hash = !values->json,
		.with_ignored = values->ignored,
		.since = values->since,
	};
	struct hb_changes *changes = NULL;
	bool is_different;
	int r;

	if (values->commits && options.filter.n_paths > 0) {
		hb_fix(err, "holdback diff PATH, or --commits without a path");
		return hb_fail(err, -HB_E_USAGE,
			       "--commits takes whole commits, and no path");
	}
	/* A server that does not answer is told by commit. */
	(void)hb_session_database_look(session, NULL);
	r = hb_session_changes(session, &options, &changes, err);
	if (r < 0)
		return r;
	is_different =
		show_has_changes(hb_changes_summary(changes), values->verbose);
	r = gone_say(session, err);
	if (r >= 0)
		r = show_with(call, session, changes, sink, err);
	/* Who leaves the pager before the end has seen enough. */
	if (r == -EPIPE && sink->pager)
		r = 0;
	hb_changes_free(changes);
	if (r < 0)
		return r;
	return values->exit_code && is_different ? HB_EXIT_DIFFERENT
						 : HB_EXIT_OK;
}

static int open_and_show(const struct cmd_call *call, struct hb_error *err)
{
	struct sink sink = { .columns = find_columns(call->envp) };
	int r;

	settings_find(call->values, call->envp, &sink.settings);
	paint_init(&sink.paint, sink.settings.has_colour,
		   sink.settings.is_for_terminal);
	/* Other commands may use the session while the user still reads. */
	r = cmd_with_session(call, HB_OPEN_LOOK, true, show, &sink, err);
	paint_done(&sink.paint);
	hb_pager_end(sink.pager);
	return r;
}

static int check(const struct cli_values *values, struct hb_error *err)
{
	if (values->commits &&
	    (values->stat || values->binary || values->since ||
	     values->only.n > 0 || values->except.n > 0))
		return hb_fail(err, -HB_E_USAGE,
			       "--commits takes whole commits, and none of "
			       "--stat, --binary, --since, --only, --except");
	if (values->stat && values->binary)
		return hb_fail(err, -HB_E_USAGE,
			       "--stat and --binary exclude each other");
	if (values->json && values->binary) {
		hb_fix(err, "--json alone, or with --name-status or --stat");
		return hb_fail(err, -HB_E_USAGE,
			       "a patch with --binary has no JSON form");
	}
	return 0;
}

static int run(char **words, struct hb_error *err)
{
	const struct command *c = command_find(&cli_program, "diff");
	struct cli_values values = { 0 };
	struct reports reports;
	struct cmd_call call = {
		.values = &values,
		.operands = words,
		.envp = environ,
		.reports = &reports,
	};
	int r;

	reports_init(&reports, environ);

	r = option_parse(&cli_program, c, words, &values, words, err);
	if (r < 0)
		return r;
	call.n_operands = r;
	r = check(&values, err);
	if (r >= 0)
		r = git2_start(err);
	if (r >= 0) {
		r = open_and_show(&call, err);
		git2_stop();
	}
	if (r < 0 && values.json)
		doc_error(0, "diff", err, NULL);
	return r;
}

int main(int argc, char **argv)
{
	struct hb_error err = { 0 };
	int r;

	if (argc > 2 && strcmp(argv[1], "ended") == 0)
		return ended_show(argv + 2, environ);
	if (argc < 2 || strcmp(argv[1], "diff") != 0) {
		hb_fix(&err, "holdback diff");
		(void)hb_fail(&err, -HB_E_USAGE,
			      "this program is a part of holdback");
		return cli_fail(&err);
	}
	r = run(argv + 2, &err);
	return r < 0 ? cli_fail(&err) : r;
}
