/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/quote.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/git_text.h"
#include "cli/show/gone_text.h"
#include "cli/show/live_text.h"
#include "cli/show/screen.h"
#include "cli/show/show.h"
#include "cli/show/state_text.h"
#include "cli/show/sync_text.h"

#include <stdio.h>
#include <string.h>

/* `holdback create`, and what only looks: status, diff. */

int cmd_create(const struct cmd_call *call, struct hb_error *err)
{
	const struct cli_values *values = call->values;
	struct hb_create_options options = {
		.name = call->operands[0],
		.settings = values->settings,
		.n_settings = values->n_settings,
		.is_durable = values->durable,
		.scan_groups = values->scan_groups,
		.without_fallback = values->no_fallback,
	};
	auto_doc struct doc doc = { 0 };
	struct hb_store *store = NULL;
	int r;

	r = cmd_open_store(call, true, &store, err);
	if (r >= 0)
		r = hb_session_create(store, &options, err);
	hb_store_free(store);
	if (r < 0)
		return r;
	doc_begin(&doc, values->json, "create");
	if (values->json)
		doc_str(&doc, "name", options.name);
	else
		(void)buf_add_fmt(&doc.out, "created session %s\n",
				  options.name);
	return doc_end(&doc, err);
}

static int show_all(const struct hb_session_info *info,
		    struct hb_changes *changes, const struct cli_values *values,
		    struct doc *doc, struct hb_error *err)
{
	struct hb_change change;
	struct show_walk walk;
	int r;

	if (doc->is_json) {
		json_key(&doc->json, "changes");
		json_array(&doc->json);
	}
	show_walk_init(&walk, changes, values->verbose);
	while ((r = show_walk_next(&walk, &change, err)) == 1) {
		if (doc->is_json)
			show_change_json(info, &change, NULL, doc);
		else
			(void)show_change(info, &change, SHOW_PLAIN, &doc->out);
		r = doc_flow(doc, err);
		if (r < 0)
			break;
	}
	show_walk_done(&walk);
	if (doc->is_json)
		json_end(&doc->json);
	return r < 0 ? r : 0;
}

/* The resources in one line, and the directories of --rw in a line each. */
static void show_resources(const struct hb_session_info *info, struct buf *out)
{
	for (size_t i = 0; i < info->n_resources; i++) {
		const struct hb_resource *resource = &info->resources[i];

		(void)buf_add_str(out, i > 0 ? ", " : ", on ");
		(void)quote_name(resource->source, strlen(resource->source),
				 out);
		if (resource->is_usual)
			continue;
		if (resource->is_direct) {
			(void)buf_add_str(out, " (not held back)");
			continue;
		}
		(void)buf_add_fmt(out, " (%s", resource->strategy);
		if (strcmp(resource->strategy, resource->requested) != 0)
			(void)buf_add_fmt(out, " instead of %s",
					  resource->requested);
		(void)buf_add_char(out, ')');
	}
	(void)buf_add_char(out, '\n');
	for (size_t i = 0; i < info->n_direct; i++) {
		(void)buf_add_str(out, "not held back: ");
		(void)quote_name(info->direct[i].source,
				 strlen(info->direct[i].source), out);
		(void)buf_add_char(out, '\n');
	}
}

static int show_state(const struct hb_session *session, struct doc *doc,
		      struct hb_error *err)
{
	const struct hb_session_info *info = hb_session_info(session);
	int r;

	if (doc->is_json) {
		json_key(&doc->json, "session");
		json_object(&doc->json);
		show_session_json(info, doc);
		r = sync_text_show(session, doc, err);
		json_end(&doc->json);
		return r;
	}
	(void)buf_add_fmt(&doc->out, "session %s: %s", info->name,
			  hb_state_name(info->state));
	show_resources(info, &doc->out);
	if (info->interrupted && info->is_damaged)
		(void)buf_add_fmt(
			&doc->out,
			"%s interrupted, and its journal is damaged: restore the journal; the files that it replaced lie in undo/ of the session's directory\n",
			info->interrupted);
	else if (info->interrupted)
		(void)buf_add_fmt(
			&doc->out,
			"%s interrupted: holdback recover @%s finishes it, holdback recover --back @%s takes it back\n",
			info->interrupted, info->name, info->name);
	for (size_t i = 0; info->knows_gone && i < info->n_resources; i++) {
		if (!info->resources[i].is_gone)
			continue;
		(void)buf_add_str(&doc->out, "gone: ");
		(void)quote_name(info->resources[i].source,
				 strlen(info->resources[i].source), &doc->out);
		(void)buf_add_char(&doc->out, '\n');
	}
	if (info->has_lost)
		(void)buf_add_str(
			&doc->out,
			"the machine went down while a command ran: its last writes may be missing\n");
	if (info->is_unsynced)
		(void)buf_add_str(&doc->out,
				  "the last writes are not on disk yet\n");
	return info->state == HB_STATE_LIVE ? sync_text_show(session, doc, err)
					    : 0;
}

struct marks {
	struct doc *doc;
	size_t n;
};

static int show_mark(void *ctx, const struct hb_mark *mark,
		     struct hb_error *err)
{
	struct marks *marks = ctx;
	struct doc *doc = marks->doc;

	(void)err;
	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "name", mark->name);
		json_key(&doc->json, "time");
		json_int(&doc->json, mark->time);
		json_end(&doc->json);
	} else {
		(void)buf_add_fmt(&doc->out, "%s %s",
				  marks->n > 0 ? "," : "marks:", mark->name);
	}
	marks->n++;
	return 0;
}

static int show_marks(struct hb_session *session, struct doc *doc,
		      struct hb_error *err)
{
	struct marks marks = { .doc = doc };
	int r;

	if (doc->is_json) {
		json_key(&doc->json, "marks");
		json_array(&doc->json);
	}
	r = hb_session_marks(session, show_mark, &marks, err);
	if (doc->is_json)
		json_end(&doc->json);
	else if (marks.n > 0)
		(void)buf_add_char(&doc->out, '\n');
	return r;
}

/* status or diff, and what it found. */
struct look {
	const char *command;
	bool is_plain;
	struct hb_summary summary;
};

/* Half of the changes lies here and half there: none is listed. */
static int look_interrupted(const struct cmd_call *call,
			    struct hb_session *session, struct hb_error *err)
{
	const struct hb_summary none = { 0 };
	auto_doc struct doc doc = { 0 };
	int r;

	doc_begin(&doc, call->values->json, "status");
	r = show_state(session, &doc, err);
	if (r >= 0)
		r = gone_show(session, &doc, err);
	if (r >= 0)
		r = show_marks(session, &doc, err);
	if (r >= 0)
		r = screen_state(session, &none, call->values->verbose, &doc,
				 err);
	if (r >= 0 && doc.is_json) {
		json_key(&doc.json, "changes");
		json_array(&doc.json);
		json_end(&doc.json);
		json_key(&doc.json, "ignored");
		json_array(&doc.json);
		json_end(&doc.json);
	}
	if (r >= 0)
		r = state_show(session, &doc, err);
	if (r >= 0)
		r = screen_past(session, &doc, err);
	if (r < 0)
		return r;
	if (doc.is_json)
		show_summary_json(&none, &doc);
	return doc_end(&doc, err);
}

/* What is no change of the session. */
static int show_rest(const struct look *look, struct hb_session *session,
		     struct doc *doc, struct hb_error *err)
{
	int r = 0;

	if (!look->is_plain || doc->is_json)
		r = state_show(session, doc, err);
	if (r >= 0 && !look->is_plain)
		r = screen_past(session, doc, err);
	return r;
}

static int look(const struct cmd_call *call, struct hb_session *session,
		int rest, void *ctx, struct hb_error *err)
{
	struct look *look = ctx;
	const struct cli_values *values = call->values;
	const struct hb_session_info *info = hb_session_info(session);
	const struct hb_changes_options options = {
		.filter = cmd_filter(call, rest),
		.without_hash = look->is_plain && !values->json,
		.with_ignored = values->ignored,
		.names_only = true,
		.since = values->since,
	};
	auto_doc struct doc doc = { 0 };
	struct hb_changes *changes = NULL;
	int r;

	if (info->interrupted && !look->is_plain)
		return look_interrupted(call, session, err);
	r = hb_session_changes(session, &options, &changes, err);
	if (r < 0)
		return r;
	look->summary = *hb_changes_summary(changes);
	doc_begin(&doc, values->json, look->command);
	if (!look->is_plain || doc.is_json)
		r = show_state(session, &doc, err);
	if (r >= 0)
		r = look->is_plain ? gone_say(session, err)
				   : gone_show(session, &doc, err);
	if (r >= 0 && !look->is_plain)
		r = show_marks(session, &doc, err);
	if (r >= 0 && !look->is_plain)
		r = live_show(session, values->verbose, &doc, err);
	if (r >= 0 && !look->is_plain)
		r = screen_state(session, &look->summary, values->verbose, &doc,
				 err);
	if (r >= 0 && !look->is_plain && !doc.is_json)
		r = screen_changes(info, changes, values->verbose, &doc, err);
	else if (r >= 0)
		r = show_all(info, changes, values, &doc, err);
	if (r >= 0 && (!look->is_plain || doc.is_json))
		r = show_ignored(info, changes, &doc, err);
	if (r >= 0 && (!look->is_plain || doc.is_json) && !values->since)
		r = git_show(session, changes, &doc, err);
	if (r >= 0 && !look->is_plain && !values->since)
		r = screen_gate(session, changes, &doc, err);
	hb_changes_free(changes);
	if (r >= 0)
		r = show_rest(look, session, &doc, err);
	if (r < 0)
		return r;
	if (doc.is_json) {
		show_summary_json(&look->summary, &doc);
	} else if (!look->is_plain) {
		(void)show_summary(&look->summary, &doc.out);
		/* By now there may be more. */
		if (info->state == HB_STATE_LIVE)
			(void)buf_add_str(&doc.out, " · live");
		(void)buf_add_char(&doc.out, '\n');
	}
	return doc_end(&doc, err);
}

/* For a script: an answer by the exit status alone. */
static int is_live(const struct cmd_call *call, struct hb_session *session,
		   int rest, void *ctx, struct hb_error *err)
{
	(void)call;
	(void)rest;
	(void)ctx;
	(void)err;
	return hb_session_info(session)->state == HB_STATE_LIVE
		       ? HB_EXIT_OK
		       : HB_EXIT_DIFFERENT;
}

int cmd_status(const struct cmd_call *call, struct hb_error *err)
{
	struct look status = { .command = "status" };

	if (call->values->asks_live && !call->values->json)
		return cmd_with_session(call, HB_OPEN_LOOK, false, is_live,
					NULL, err);
	if (call->values->asks_live)
		return hb_fail(err, -HB_E_USAGE,
			       "--live answers by the exit status alone, "
			       "without a document");
	return cmd_with_session(call, HB_OPEN_LOOK, false, look, &status, err);
}

int cmd_diff(const struct cmd_call *call, struct hb_error *err)
{
	const struct cli_values *values = call->values;
	struct look diff = { .command = "diff", .is_plain = true };
	int r;

	if (values->stat || values->binary || values->commits)
		return hb_fail(err, -HB_E_USAGE,
			       "--name-status, --stat, --binary and --commits "
			       "exclude each other");
	r = cmd_with_session(call, HB_OPEN_LOOK, true, look, &diff, err);
	if (r < 0)
		return r;
	return values->exit_code &&
			       show_has_changes(&diff.summary, values->verbose)
		       ? HB_EXIT_DIFFERENT
		       : HB_EXIT_OK;
}
