/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/quote.h"
#include "cli/commands/cmd_session.h"
#include "cli/commands/commit.h"
#include "cli/diff/git_settings.h"
#include "cli/front/table.h"
#include "cli/show/colour.h"
#include "cli/show/delivery_text.h"
#include "cli/show/differ.h"
#include "cli/show/doc.h"
#include "cli/show/git_text.h"
#include "cli/show/reports.h"
#include "cli/show/say.h"
#include "cli/show/show.h"
#include "cli/show/state_text.h"
#include "holdback/database.h"
#include "holdback/git.h"
#include "holdback/state.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* `holdback commit`. */

/* Beyond this a hint says how much undo holds. */
#define UNDO_HINT (1ULL << 30)

/* Beyond so many lines a pager shows them. */
#define LIST_LONG 20

/* For the document of the error: the error itself has the paths in words. */
static void keep_merge_conflict(void *ctx, const struct hb_report *report)
{
	const struct commit *c = ctx;
	auto_doc struct doc doc = { 0 };

	if (!c->call->evidence)
		return;
	evidence_begin(&doc);
	json_object(&doc.json);
	doc_str(&doc, "source", report->source);
	doc_str(&doc, "path", report->path);
	doc_str(&doc, "conflict", report->text);
	json_end(&doc.json);
	evidence_add(&c->call->evidence->merge_conflicts, &doc);
}

static int fill_options(struct commit *c, struct hb_error *err)
{
	const struct cli_values *v = c->call->values;

	c->said.info = hb_session_info(c->session);
	c->said.evidence = c->call->evidence;
	c->options = (struct hb_commit_options){
		.filter = cmd_filter(c->call, c->rest),
		.ours = v->ours.words,
		.n_ours = v->ours.n,
		.theirs = v->theirs.words,
		.n_theirs = v->theirs.n,
		.expect = v->expect,
		.follows = v->yes && !v->expect && !c->has_preview,
		.command = c->command,
		.dry_run = v->dry_run,
		.with_special = v->special,
		.with_setid = v->setid,
		.with_ignored = v->ignored,
		.gate = { .allow = v->allow.words,
			  .n_allow = v->allow.n,
			  .run = v->gate_run },
		.without_gate = v->no_gate,
		.as_branch = v->as_branch,
		.database_file = v->db_file,
	};
	c->call->reports->found = findings_say;
	c->call->reports->found_ctx = &c->said;
	c->call->reports->against = keep_merge_conflict;
	c->call->reports->against_ctx = c;
	if (v->merge && (v->git || v->as_branch))
		return hb_fail(err, -HB_E_USAGE,
			       "--merge, --git and --as-branch exclude each "
			       "other");
	if (v->merge)
		c->options.git = HB_GIT_MERGE;
	return v->git ? hb_session_git_mode(c->session, v->git, &c->options.git,
					    err)
		      : 0;
}

static bool can_ask(const struct commit *c)
{
	return !c->is_silent && !c->options.dry_run &&
	       questions_can_ask(c->call);
}

/* The paths that were answered so; 1: there are some. */
static int leave_out(struct commit *c, struct hb_error *err)
{
	const struct questions *q = &c->questions;

	for (size_t i = 0; i < q->n; i++) {
		const struct question *question = &q->list[i];
		int r = question->answer != ANSWER_LEAVE
				? 0
				: selection_leave(&c->selection, c->said.info,
						  question->resource,
						  question->repository
							  ? question->repository
							  : question->path,
						  err);

		if (r < 0)
			return r;
	}
	return q->n_leaving > 0;
}

/* The gate before the question: what it asks is answered first. */
static int ask_gate(struct commit *c, struct hb_changes *changes,
		    struct hb_error *err)
{
	const struct cli_values *v = c->call->values;
	const char *given[CLI_MAX_LIST + 2];
	struct hb_gate_options options = { 0 };
	struct hb_gate_result result = { 0 };
	size_t n = v->allow.n;
	int r;

	memcpy(given, v->allow.words, n * sizeof(given[0]));
	if (v->special)
		given[n++] = "special";
	if (v->setid)
		given[n++] = "setid";
	questions_done(&c->questions);
	r = questions_init(&c->questions, c->call, c->session, &c->said, given,
			   n, err);
	options.allow = given;
	options.n_allow = n;
	c->questions.is_asking = can_ask(c);
	c->call->reports->found = questions_note;
	c->call->reports->found_ctx = &c->questions;
	if (r >= 0)
		r = hb_session_gate(c->session, changes, &options, &result,
				    err);
	if (r < 0)
		return r;
	/* What was said need not be said again by the commit. */
	c->has_gate = true;
	c->call->reports->found = NULL;
	c->is_refused = result.n_denied > 0 ||
			(result.n_asked > 0 && !c->questions.is_asking);
	if (result.n_asked == 0 || c->is_refused)
		return 0;
	findings_say_rest(&c->said);
	r = questions_ask(&c->questions, err);
	if (r == 0)
		return hb_fail(
			err, -HB_E_DENIED,
			"the changes that the gate asks about were not allowed");
	c->options.gate.allow = (const char *const *)c->questions.allow;
	c->options.gate.n_allow = c->questions.n_allow;
	return r < 0 ? r : leave_out(c, err);
}

static int show_preview(const struct commit *c, struct hb_changes *changes,
			struct hb_error *err)
{
	const struct hb_session_info *info = hb_session_info(c->session);
	auto_doc struct doc doc = { 0 };
	struct hb_change change;
	struct show_walk walk;
	int r;

	doc_begin(&doc, false, c->command);
	show_walk_init(&walk, changes, true);
	while ((r = show_walk_next(&walk, &change, err)) == 1) {
		(void)show_sized(info, &change, doc.has_colour, &doc.out);
		(void)show_conflict_below(&change, doc.has_colour, &doc.out);
		r = doc_flow(&doc, err);
		if (r < 0)
			break;
	}
	show_walk_done(&walk);
	if (r >= 0)
		r = git_show(c->session, changes, &doc, err);
	if (r >= 0)
		r = show_ignored(info, changes, &doc, err);
	return r < 0 ? r : doc_end(&doc, err);
}

static void say_session(const struct commit *c)
{
	auto_buf struct buf line = BUF_INIT(1U << 16);

	(void)buf_add_fmt(&line, "session %s, on ", c->said.info->name);
	state_add_path(c->said.info->resources[0].source,
		       state_home(c->call->envp), &line);
	(void)buf_add_str(&line, ":\n");
	cli_put(buf_str(&line));
}

/* The list before the question: through the pager where it is long. */
static int show_list(struct commit *c, struct hb_error *err)
{
	const struct hb_summary *s = &c->summary;
	bool will_ask = can_ask(c) && !c->call->values->yes;
	struct settings settings = { 0 };
	struct hb_pager *pager = NULL;
	int r = 0;

	if (!c->has_preview && !will_ask)
		return 0;
	if (will_ask)
		say_session(c);
	settings_find(c->call->values, c->call->envp, &settings);
	if (s->n_files + s->n_directories > LIST_LONG && will_ask)
		r = settings_start_pager(&settings, c->session, c->call->envp,
					 &pager, err);
	c->is_listed = true;
	if (r >= 0)
		r = show_preview(c, c->reviewed, err);
	/* A user who leaves the pager before its end has seen enough. */
	if (pager && r == -EPIPE)
		r = 0;
	clearerr(stdout);
	hb_pager_end(pager);
	return r;
}

/* The change set that the options and the user's selection leave. */
static int look(struct commit *c, struct hb_error *err)
{
	struct hb_changes_options options = {
		.with_ignored = c->options.with_ignored,
		.git = c->options.git,
		.as_branch = c->options.as_branch,
		.ours = c->options.ours,
		.n_ours = c->options.n_ours,
	};
	int r;

	hb_changes_free(c->reviewed);
	c->reviewed = c->options.reviewed = NULL;
	c->options.filter.without = (const char *const *)c->selection.left;
	c->options.filter.n_without = c->selection.n_left;
	options.filter = c->options.filter;
	r = hb_session_changes(c->session, &options, &c->reviewed, err);
	if (r < 0)
		return r;
	c->summary = *hb_changes_summary(c->reviewed);
	c->has_summary = true;
	if (!c->options.expect)
		c->options.expect = c->summary.hash;
	return 0;
}

/* What is asked about is what is committed: by its hash. */
static int review(struct commit *c, bool with_gate, struct hb_error *err)
{
	int r = hb_session_database_look(c->session, err);

	r = r < 0 ? r : look(c, err);

	if (r >= 0 && with_gate && !c->options.without_gate)
		r = ask_gate(c, c->reviewed, err);
	if (r > 0)
		r = look(c, err);
	if (r >= 0 && c->options.filter.n_paths > 0 &&
	    !show_has_changes(&c->summary, true)) {
		hb_fix(err, "holdback status @%s lists the changes",
		       c->said.info->name);
		r = hb_fail(err, -HB_E_USAGE,
			    "nothing is pending at these paths");
	}
	if (r >= 0 && !c->call->values->json && !c->is_refused)
		r = show_list(c, err);
	if (r < 0)
		return r;
	c->options.reviewed = c->reviewed;
	return 0;
}

#define ASK_HELP                            \
	"y  yes: commit these changes\n"    \
	"n  no: commit nothing\n"           \
	"d  show the text of the changes\n" \
	"e  edit the selection: choose in an editor which changes to take\n"

/* The list again, without what was deleted in the editor. */
static int edit(struct commit *c, struct hb_error *err)
{
	int r = selection_edit(&c->selection, c->call, c->said.info,
			       c->reviewed, err);

	if (r > 0)
		r = look(c, err);
	if (r >= 0)
		r = show_list(c, err);
	c->options.reviewed = r < 0 ? NULL : c->reviewed;
	return r;
}

/* 1: go on, 0: the user does not want to. */
static int ask(struct commit *c, struct hb_error *err)
{
	auto_buf struct buf words = BUF_INIT(4096);
	char answer[16];
	int r = 0;

	if (c->call->values->yes || c->call->values->dry_run)
		return 1;
	if (!questions_can_ask(c->call))
		return cmd_ask(c->call, "", err);
	while (r >= 0) {
		buf_cut(&words, 0);
		(void)show_summary(&c->summary, &words);
		(void)buf_add_str(&words, "\ncommit? [y]es [n]o [d]iff "
					  "[e]dit selection: ");
		cli_put(buf_str(&words));
		(void)fflush(stderr);
		if (!fgets(answer, sizeof(answer), stdin))
			return 0;
		switch (answer[0] | 0x20) {
		case 'y':
			return 1;
		case 'd':
			differ_show(c->call, c->said.info, NULL);
			break;
		case 'e':
			r = edit(c, err);
			break;
		case '?':
			(void)fputs(ASK_HELP, stderr);
			break;
		default:
			return 0;
		}
	}
	return r;
}

/* "conflict: PATH: why, with both times", on a line of its own. */
static bool say_conflict(const struct commit *c, const struct hb_change *change,
			 struct buf *line)
{
	(void)c;
	if (!change->has_conflict || change->is_firm)
		return false;
	(void)show_conflict(change, line);
	return true;
}

static bool say_firm(const struct commit *c, const struct hb_change *change,
		     struct buf *line)
{
	(void)c;
	if (!change->is_firm)
		return false;
	(void)show_conflict(change, line);
	return true;
}

/* A refusal without words of the gate: it was not asked, or it did not know. */
static bool say_denied(const struct commit *c, const struct hb_change *change,
		       struct buf *line)
{
	if (change->asks == HB_ASKS_NOTHING ||
	    (change->asks == HB_ASKS_SPECIAL && c->options.with_special) ||
	    (change->asks == HB_ASKS_SETID && c->options.with_setid))
		return false;
	(void)buf_add_str(line, show_asks(change));
	return true;
}

/* What a refusal is called, which paths it is about, and what can be done. */
struct refusal {
	const char *word;
	bool (*say)(const struct commit *c, const struct hb_change *change,
		    struct buf *line);
	size_t n_lists; /* of --except, --ours, --theirs: which settle it */
	const char *fix;
};

static const struct refusal conflicts = {
	"conflict", say_conflict, 3,
	"--ours GLOB keeps the real version, --theirs GLOB takes the "
	"session's, --except GLOB leaves it out"
};
static const struct refusal firm_conflicts = {
	"conflict", say_firm, 2,
	"end the program that uses the database, if it is one; --ours GLOB "
	"keeps the real version; --theirs GLOB cannot take the session's"
};
static const struct refusal denials = {
	"denied", say_denied, 1,
	"the option named above, or --except GLOB leaves it out"
};

/* For the document of the error. */
static void keep_refused(const struct commit *c, const struct refusal *refusal,
			 const struct hb_change *change)
{
	auto_doc struct doc doc = { 0 };

	evidence_begin(&doc);
	show_change_json(hb_session_info(c->session), change, NULL, &doc);
	evidence_add(refusal == &denials ? &c->call->evidence->denied
					 : &c->call->evidence->conflicts,
		     &doc);
}

/* Every path that stands against it; how many there are. */
static size_t list_refused(const struct commit *c,
			   const struct refusal *refusal)
{
	const struct cli_values *v = c->call->values;
	const struct hb_session_info *info = hb_session_info(c->session);
	const char *except[3 * CLI_MAX_LIST];
	struct hb_changes_options options = {
		.filter = c->options.filter,
		.without_hash = true,
		.with_ignored = v->ignored,
		.git = c->options.git,
		.as_branch = c->options.as_branch,
	};
	const struct cli_list *lists[] = { &v->except, &v->ours, &v->theirs };
	bool has_colour = colour_is_on(STDERR_FILENO);
	struct hb_changes *changes = NULL;
	struct hb_change change;
	size_t n = 0;

	options.filter.except = except;
	options.filter.n_except = 0;
	for (size_t i = 0; i < refusal->n_lists; i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			except[options.filter.n_except++] = lists[i]->words[k];
	if (hb_session_changes(c->session, &options, &changes, NULL) < 0)
		return 0;
	while (hb_changes_next(changes, &change, NULL) == 1) {
		auto_buf struct buf line = BUF_INIT(1U << 22);

		(void)buf_add_fmt(&line, "%s%s:%s ",
				  colour_begin(has_colour, COLOUR_DELETED),
				  refusal->word,
				  colour_end(has_colour, COLOUR_DELETED));
		(void)show_path(info, &change, change.path, &line);
		(void)buf_add_str(&line, ": ");
		if (!refusal->say(c, &change, &line))
			continue;
		(void)buf_add_char(&line, '\n');
		cli_put(buf_str(&line));
		if (c->call->evidence)
			keep_refused(c, refusal, &change);
		n++;
	}
	hb_changes_free(changes);
	return n;
}

static void explain(const struct commit *c, int r, struct hb_error *err)
{
	const uint64_t *said = c->said.n_said;

	if (r == -HB_E_DENIED && said[HB_SEVERITY_DENY] > 0)
		hb_fix(err,
		       "--except GLOB leaves it out; holdback-gate(1) says "
		       "where rules are changed");
	if (r == -HB_E_DENIED && said[HB_SEVERITY_ASK] > 0)
		hb_fix(err, c->said.is_in_git
				    ? "look at it; --allow RULE lets it pass, "
				      "--except GLOB leaves a file out, and "
				      "--except .git all commits"
				    : "look at it; --allow RULE lets it pass, "
				      "--except GLOB leaves it out");
	if (r == -HB_E_DENIED &&
	    said[HB_SEVERITY_ASK] + said[HB_SEVERITY_DENY] > 0)
		return;
	if (r != -HB_E_CONFLICT) {
		(void)list_refused(c, &denials);
		hb_fix(err, "%s", denials.fix);
		return;
	}
	if (list_refused(c, &firm_conflicts) > 0)
		hb_fix(err, "%s", firm_conflicts.fix);
	/* A file of the base that changed meanwhile may be the one to keep. */
	if (list_refused(c, &conflicts) == 0)
		hb_fix(err, "look at the changes again: holdback status");
	hb_fix(err, "%s", conflicts.fix);
}

static int report(const struct commit *c, const struct hb_commit_result *result,
		  struct hb_error *err)
{
	const struct hb_summary *summary =
		c->has_summary ? &c->summary : &result->summary;
	auto_doc struct doc doc = { 0 };

	doc_begin(&doc, c->call->values->json, c->command);
	if (doc.is_json) {
		doc_bool(&doc, "committed",
			 !c->options.dry_run && result->n_operations > 0);
		doc_str(&doc, "name", hb_session_info(c->session)->name);
		doc_bool(&doc, "dry_run", c->options.dry_run);
		doc_uint(&doc, "operations", result->n_operations);
		doc_bool(&doc, "has_rest", result->has_rest);
		doc_uint(&doc, "undo_bytes", result->undo_bytes);
		doc_bool(&doc, "complete", result->is_complete);
		doc_uint(&doc, "signed", c->n_signed);
		show_summary_json(summary, &doc);
		findings_count_json(&result->gate, &doc);
		deliveries_json(result->git, result->n_git, &doc);
		if (c->is_partial)
			partial_json(c->said.info, &c->held, &doc);
		return doc_end(&doc, err);
	}
	if (result->n_operations == 0)
		(void)buf_add_str(&doc.out, "nothing to commit");
	else if (c->options.dry_run)
		(void)buf_add_str(&doc.out, "would commit ");
	else
		(void)buf_add_fmt(&doc.out, "committed session %s: ",
				  hb_session_info(c->session)->name);
	if (result->n_operations > 0)
		(void)show_summary(summary, &doc.out);
	else
		(void)show_ignored_part(summary, &doc.out);
	if (result->n_operations > 0 && result->undo_bytes > 0 &&
	    !c->options.dry_run) {
		(void)buf_add_str(&doc.out, " · undo ");
		(void)show_size(result->undo_bytes, &doc.out);
	}
	(void)buf_add_char(&doc.out, '\n');
	/* The list has said it before. */
	if (!c->is_listed || !c->options.dry_run)
		deliveries_show(result->git, result->n_git, "", &doc.out);
	if (result->n_operations > 0 && !c->options.dry_run &&
	    questions_can_ask(c->call))
		(void)buf_add_fmt(&doc.out, "Undo: holdback undo @%s\n",
				  hb_session_info(c->session)->name);
	return doc_end(&doc, err);
}

static int commit_or_try(const struct commit *c,
			 struct hb_commit_result *result, struct hb_error *err)
{
	struct hb_commit_options options = c->options;

	options.dry_run = options.dry_run || c->is_trial;
	return hb_session_commit(c->session, &options, result, err);
}

/* Also a second time: the user has not answered the gate the first time. */
static int apply(struct commit *c, struct hb_commit_result *result,
		 struct hb_error *err)
{
	struct hb_error why = { 0 };
	int r = commit_or_try(c, result, &why);

	if (r == -HB_E_DENIED && !c->has_gate && can_ask(c) &&
	    c->said.n_said[HB_SEVERITY_DENY] == 0 &&
	    c->said.n_said[HB_SEVERITY_ASK] > 0) {
		c->said = (struct findings_said){ .info = c->said.info,
						  .evidence = c->said.evidence,
						  .is_silent = true };
		r = review(c, true, err);
		if (r < 0)
			return r;
		why = (struct hb_error){ 0 };
		r = commit_or_try(c, result, &why);
	}
	findings_say_rest(&c->said);
	if (r == -HB_E_CONFLICT || r == -HB_E_DENIED)
		explain(c, r, &why);
	return hb_pass(err, &why, r);
}

/*
 * What was reviewed has another hash once it is signed.  So a trial of the
 * commit comes first: it compares the hash, and nothing is signed that cannot
 * be committed.
 */
static int sign(struct commit *c, struct hb_error *err)
{
	struct hb_commit_result result = { 0 };
	char words[64];
	int r;

	c->is_trial = true;
	r = apply(c, &result, err);
	c->is_trial = false;
	if (r < 0)
		return r;
	r = hb_session_sign(c->session, &c->options.filter, c->call->envp,
			    &c->n_signed, err);
	if (r < 0)
		return r;
	/* What the gate has said need not be said again. */
	c->call->reports->found = NULL;
	c->options.expect = NULL;
	c->options.reviewed = NULL;
	(void)snprintf(words, sizeof(words), "signed %llu commit%s",
		       (unsigned long long)c->n_signed,
		       c->n_signed == 1 ? "" : "s");
	cli_say(c->n_signed > 0 ? words : "the session has no commit to sign");
	return 0;
}

static int run(struct commit *c, struct hb_error *err)
{
	const struct cli_values *v = c->call->values;
	struct hb_commit_result result = { 0 };
	int r;

	r = fill_options(c, err);
	if (r < 0)
		return r;
	if (v->no_gate)
		cli_say("the gate is not asked, which is recorded: --no-gate");
	/* Without a question and a filter, commit's own walk is enough. */
	if (!c->is_partial &&
	    (!v->yes || c->has_preview || c->options.filter.n_paths ||
	     v->only.n || v->except.n || v->resources.n || v->ours.n ||
	     v->theirs.n)) {
		r = review(c, !v->yes || c->has_preview, err);
		if (r < 0)
			return r;
	}
	if (c->is_refused && !c->options.dry_run) {
		findings_say_rest(&c->said);
		r = hb_fail(err, -HB_E_DENIED, "the gate does not let it pass");
		explain(c, r, err);
		return r;
	}
	r = ask(c, err);
	if (r < 0)
		return r;
	if (r == 0) {
		cli_say("nothing was committed");
		return HB_EXIT_OK;
	}
	if (v->sign && !c->options.dry_run)
		r = sign(c, err);
	if (r >= 0)
		r = c->is_partial ? partial_apply(c, &result, err)
				  : apply(c, &result, err);
	if (r < 0)
		return r;
	c->is_done = result.n_operations > 0 && !c->options.dry_run;
	if (result.undo_bytes > UNDO_HINT)
		cli_say("undo would need much room; holdback ls shows it");
	if (c->is_quiet || (c->is_repeated && !c->is_done))
		return 0;
	return report(c, &result, err);
}

int cmd_commit_run(struct commit *c, struct hb_error *err)
{
	int r = run(c, err);

	hb_changes_free(c->reviewed);
	questions_done(&c->questions);
	selection_done(&c->selection);
	return r;
}

static int commit_session(const struct cmd_call *call,
			  struct hb_session *session, int rest, void *ctx,
			  struct hb_error *err)
{
	struct commit c = { .command = "commit",
			    .call = call,
			    .session = session,
			    .rest = rest };
	int r = hb_session_take(session, err);

	(void)ctx;
	if (r >= 0)
		r = cmd_commit_run(&c, err);
	/* What is left out is said. */
	if (r >= 0)
		(void)state_say(session, NULL);
	return r;
}

/* The project of the session that was named. */
static int find_project(struct hb_store *store, const char *ref, char *ret,
			struct hb_error *err)
{
	struct hb_session *session = NULL;
	int r = hb_session_open(store, ref, HB_OPEN_LOOK, &session, err);

	if (r >= 0)
		(void)snprintf(ret, PATH_MAX, "%s",
			       hb_session_info(session)->resources[0].source);
	hb_session_free(session);
	return r;
}

/* Of a session that is made for it: what is not committed is still carried. */
static int commit_state(const struct cmd_call *call, struct hb_error *err)
{
	struct commit c = { .command = "commit", .call = call };
	struct hb_state_options options = { 0 };
	struct hb_store *store = NULL;
	char project[PATH_MAX];
	const char *ref;
	int r;

	r = cmd_session_operand(call, true, &ref, &c.rest, err);
	if (r >= 0)
		r = cmd_open_store(call, false, &store, err);
	if (r >= 0 && ref) {
		r = find_project(store, ref, project, err);
		options.project = project;
	}
	if (r >= 0)
		r = hb_state_begin(store, &options, &c.session, err);
	if (r >= 0)
		r = cmd_commit_run(&c, err);
	if (c.is_done)
		(void)hb_state_end(store, &options, NULL);
	else if (c.session)
		(void)hb_session_cleanup(c.session, NULL);
	hb_session_free(c.session);
	hb_store_free(store);
	return r;
}

int cmd_commit(const struct cmd_call *call, struct hb_error *err)
{
	if (call->values->with_state)
		return commit_state(call, err);
	if (call->values->live && call->values->sign)
		return hb_fail(err, -HB_E_USAGE,
			       "--sign needs a session that is not live");
	return cmd_offer_live(call,
			      cmd_with_only_session(call, HB_OPEN_CHANGE,
						    "commit", CHOOSE_BY_PENDING,
						    true, commit_session, NULL,
						    err),
			      err);
}
