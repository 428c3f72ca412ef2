/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/quote.h"
#include "cli/commands/cmd_session.h"
#include "cli/commands/sweep.h"
#include "cli/front/choose.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/say.h"
#include "cli/show/show.h"
#include "holdback/session.h"
#include "holdback/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* `holdback rollback`, recover and cleanup. */

static int report(const struct cmd_call *call, const char *command,
		  const char *key, const char *value, const char *line,
		  struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };

	doc_begin(&doc, call->values->json, command);
	if (doc.is_json && key)
		doc_str(&doc, key, value);
	else if (!doc.is_json)
		(void)buf_add_fmt(&doc.out, "%s\n", line);
	return doc_end(&doc, err);
}

static int check_words(const struct cmd_call *call, int first,
		       struct hb_error *err)
{
	if (!call->values->to || call->n_operands <= first)
		return 0;
	return hb_fail(err, -HB_E_USAGE,
		       "--to is about all paths: it takes none");
}

/* Of type hb_state_fn. */
static int note_state(void *ctx, const struct hb_state_file *file,
		      struct hb_error *err)
{
	bool *has_state = ctx;

	(void)file;
	(void)err;
	*has_state = true;
	return 0;
}

/* Whether all of a session is as it was; a look that fails says nothing. */
static bool is_untouched(struct hb_session *session)
{
	const struct hb_changes_options options = { .without_hash = true };
	const struct hb_session_info *info = hb_session_info(session);
	struct hb_changes *changes = NULL;
	bool has_state = false, is_same = false;

	if (info->has_lost || info->interrupted ||
	    hb_session_state(session, note_state, &has_state, NULL) < 0 ||
	    has_state)
		return false;
	for (size_t i = 0; i < info->n_resources; i++)
		if (info->resources[i].is_gone)
			return false;
	if (hb_session_changes(session, &options, &changes, NULL) >= 0) {
		const struct hb_summary *s = hb_changes_summary(changes);

		is_same = !show_has_changes(s, true) && !s->n_ignored &&
			  !s->n_ignored_directories && !s->n_locks;
	}
	hb_changes_free(changes);
	return is_same;
}

/* Such a rollback is refused, so there is nothing to ask about. */
static bool is_all_direct(const struct hb_session_info *info)
{
	for (size_t i = 0; i < info->n_resources; i++)
		if (!info->resources[i].is_direct)
			return false;
	return true;
}

static int ask_rollback(const struct cmd_call *call,
			const struct hb_session_info *info, int first,
			struct hb_error *err)
{
	char line[HB_TEXT_SIZE];

	if (is_all_direct(info))
		return 1;
	(void)snprintf(line, sizeof(line), "discard %s of session %s?",
		       call->values->to		  ? "the changes after the mark"
		       : call->n_operands > first ? "these changes"
						  : "all changes",
		       info->name);
	return cmd_ask(call, line, err);
}

static int rollback(const struct cmd_call *call, struct hb_session *session,
		    int first, void *ctx, struct hb_error *err)
{
	const struct hb_session_info *info = hb_session_info(session);
	const char *name = info->name;
	char line[HB_TEXT_SIZE];
	int r;

	(void)ctx;
	r = check_words(call, first, err);
	if (r < 0)
		return r;
	if (!call->values->yes && !call->values->to &&
	    call->n_operands <= first && !is_all_direct(info) &&
	    is_untouched(session)) {
		(void)snprintf(line, sizeof(line),
			       "session %s has nothing to discard", name);
		return report(call, "rollback", "name", name, line, err);
	}
	r = ask_rollback(call, info, first, err);
	if (r < 0)
		return r;
	if (r == 0) {
		cli_say("nothing was rolled back");
		return HB_EXIT_OK;
	}
	r = call->values->to
		    ? hb_session_rollback_to(session, call->values->to, err)
		    : hb_session_rollback(
			      session,
			      (const char *const *)call->operands + first,
			      (size_t)(call->n_operands - first), err);
	if (r < 0)
		return r;
	(void)snprintf(line, sizeof(line), "rolled session %s back%s%s", name,
		       call->values->to ? " to " : "",
		       call->values->to ? call->values->to : "");
	return report(call, "rollback", "name", name, line, err);
}

static bool is_full(int r)
{
	return r == -ENOSPC || r == -EDQUOT;
}

/* Without room for a journal: gone is gone, and so it is asked once more. */
static int empty(const struct cmd_call *call, struct hb_session *session,
		 int rest, void *ctx, struct hb_error *err)
{
	const char *name = hb_session_info(session)->name;
	bool is_part = call->n_operands > rest;
	char line[HB_TEXT_SIZE];
	int r;

	(void)ctx;
	r = check_words(call, rest, err);
	if (r < 0)
		return r;
	r = cmd_ask(call,
		    "the disk is full: discard them for good, without undo?",
		    err);
	if (r < 0)
		return r;
	if (r == 0) {
		cli_say("nothing was rolled back");
		return HB_EXIT_OK;
	}
	r = is_part ? hb_session_empty_paths(
			      session,
			      (const char *const *)call->operands + rest,
			      (size_t)(call->n_operands - rest), err)
		    : hb_session_empty(session, call->values->to, err);
	if (r < 0)
		return r;
	cli_say("the disk is full: undo cannot bring these changes back");
	(void)snprintf(line, sizeof(line), "rolled session %s back%s%s", name,
		       call->values->to ? " to " : "",
		       call->values->to ? call->values->to : "");
	return report(call, "rollback", "name", name, line, err);
}

int cmd_rollback(const struct cmd_call *call, struct hb_error *err)
{
	struct hb_error first = { 0 };
	int r;

	r = cmd_with_only_session(call, HB_OPEN_BACK, "rollback",
				  CHOOSE_BY_PENDING, true, rollback, NULL,
				  &first);
	if (r >= 0)
		return r;
	if (is_full(r))
		return cmd_with_only_session(call, HB_OPEN_GIVE_UP, "rollback",
					     CHOOSE_BY_PENDING, true, empty,
					     NULL, err);
	if (err)
		*err = first;
	return r;
}

static int recover(const struct cmd_call *call, struct hb_session *session,
		   int rest, void *ctx, struct hb_error *err)
{
	enum hb_recovered *what = ctx;

	(void)rest;
	return hb_session_recover(session, call->values->back, what, err);
}

struct listing {
	const struct hb_session_info *info;
	struct doc doc;
	uint64_t n, n_unnamed;
};

static int show_salvaged(void *ctx, const struct hb_salvaged *f,
			 struct hb_error *err)
{
	struct listing *l = ctx;
	struct doc *doc = &l->doc;
	const char *path = !f->path ? "(not named)" : *f->path ? f->path : ".";

	l->n++;
	l->n_unnamed += !f->path;
	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "source", l->info->resources[f->resource].source);
		if (f->path)
			doc_str(doc, "path", path);
		doc_str(doc, "version", f->version);
		doc_str(doc, "type", f->type);
		doc_uint(doc, "size", f->size);
		doc_str(doc, "place", f->place);
		if (f->taken)
			doc_str(doc, "taken", f->taken);
		json_end(&doc->json);
		return doc_flow(doc, err);
	}
	(void)buf_add_fmt(&doc->out, "%s\t%s\t%llu\t", f->version, f->type,
			  (unsigned long long)f->size);
	if (f->path)
		(void)quote_name(path, strlen(path), &doc->out);
	else
		(void)buf_add_str(&doc->out, path);
	(void)buf_add_char(&doc->out, '\t');
	path = f->taken ? f->taken : f->place;
	(void)quote_name(path, strlen(path), &doc->out);
	(void)buf_add_char(&doc->out, '\n');
	return doc_flow(doc, err);
}

/* Failed or not, what was found before is shown: it may be all there is. */
static int salvage(const struct cmd_call *call, struct hb_session *session,
		   int rest, void *ctx, struct hb_error *err)
{
	struct listing l = { .info = hb_session_info(session) };
	char line[HB_TEXT_SIZE];
	int r, t;

	(void)rest;
	(void)ctx;
	doc_begin(&l.doc, call->values->json, "recover");
	if (l.doc.is_json) {
		doc_str(&l.doc, "recovered", "nothing");
		json_key(&l.doc.json, "files");
		json_array(&l.doc.json);
	}
	r = hb_session_salvage(session, call->values->take, show_salvaged, &l,
			       err);
	if (r >= 0 && l.doc.is_json)
		json_end(&l.doc.json);
	if (r < 0 && (l.doc.is_json || l.n == 0)) {
		doc_done(&l.doc);
		return r;
	}
	t = doc_end(&l.doc, r < 0 ? NULL : err);
	doc_done(&l.doc);
	if (l.n == 0)
		cli_say("no file was put aside");
	if (l.n_unnamed > 0) {
		(void)snprintf(line, sizeof(line),
			       "%llu could not be named: no whole record of "
			       "the journal is about them",
			       (unsigned long long)l.n_unnamed);
		cli_say(line);
	}
	return r < 0 ? r : t;
}

int cmd_recover(const struct cmd_call *call, struct hb_error *err)
{
	static const char *const words[] = {
		[HB_RECOVERED_NOTHING] = "nothing",
		[HB_RECOVERED_FORWARD] = "forward",
		[HB_RECOVERED_BACK] = "back",
	};
	static const char *const lines[] = {
		[HB_RECOVERED_NOTHING] = "nothing to recover",
		[HB_RECOVERED_FORWARD] = "the interrupted change is finished",
		[HB_RECOVERED_BACK] = "the interrupted change is reversed",
	};
	enum hb_recovered what = HB_RECOVERED_NOTHING;
	bool only_looks = call->values->list || call->values->take;
	int r;

	if ((call->values->list && call->values->take) ||
	    (only_looks && call->values->back))
		return hb_fail(err, -HB_E_USAGE,
			       "--back, --list and --take: one of them");
	if (only_looks)
		return cmd_with_session(call, HB_OPEN_RECOVER, false, salvage,
					NULL, err);
	r = cmd_with_only_session(call, HB_OPEN_RECOVER, "recover",
				  CHOOSE_BY_PENDING, false, recover, &what,
				  err);
	if (r < 0)
		return r;
	return report(call, "recover", "recovered", words[what], lines[what],
		      err);
}

static int name_stale(void *ctx, const struct hb_session_info *info,
		      struct hb_error *err)
{
	static const struct {
		enum hb_state state;
		const char *before, *after;
	} table[] = {
		{ HB_STATE_CRASHED, "session ",
		  " crashed, and nothing is pending in it" },
		{ HB_STATE_CHECK, "session ",
		  " is of a check that was cut short" },
		{ HB_STATE_ORPHAN, "the directories of session ", " are gone" },
	};
	char line[HB_TEXT_SIZE];

	(void)ctx;
	(void)err;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (info->state != table[i].state)
			continue;
		(void)snprintf(line, sizeof(line), "%s%s%s", table[i].before,
			       info->name, table[i].after);
		cli_say(line);
	}
	return 0;
}

static int no_name(void *ctx, const struct hb_session_info *info,
		   struct hb_error *err)
{
	(void)ctx;
	(void)info;
	(void)err;
	return 0;
}

static int clean_stale(const struct cmd_call *call, struct hb_error *err)
{
	struct hb_store *store = NULL;
	uint64_t n = 0;
	int r;

	r = cmd_open_store(call, false, &store, err);
	if (r >= 0)
		r = hb_store_clean_stale(store, true, name_stale, NULL, &n,
					 err);
	if (r >= 0 && n > 0)
		r = cmd_ask(call, "remove all stale sessions?", err);
	if (r > 0 || (r == 0 && n == 0))
		r = hb_store_clean_stale(store, false, no_name, NULL, &n, err);
	else if (r == 0)
		n = 0;
	hb_store_free(store);
	return r < 0 ? r : sweep_report(call, n, err);
}

/*
 * It is opened as it is: nothing that is going to be removed has to be in order
 * for that.  An unreadable session is removed if the user said so beforehand.
 */
static int clean(const struct cmd_call *call, const char *ref,
		 struct hb_store *store, struct hb_error *err)
{
	struct hb_session *session = NULL;
	struct hb_error first = { 0 };
	char line[HB_TEXT_SIZE], name[128] = "";
	int r;

	r = hb_session_open(store, ref, HB_OPEN_REMOVE, &session, &first);
	if (r == -HB_E_NO_SESSION && call->values->force)
		return report(call, "cleanup", NULL, NULL,
			      "there is no such session", err);
	if ((r == -HB_E_STATE || r == -HB_E_CORRUPT) && call->values->yes) {
		struct hb_error second = { 0 };

		r = hb_session_open(store, ref, HB_OPEN_GIVE_UP, &session,
				    &second);
	}
	if (r == -HB_E_CORRUPT && call->values->yes && ref)
		r = hb_store_discard(store, ref, err);
	else if (r < 0)
		*err = first;
	if (r >= 0 && session) {
		(void)snprintf(name, sizeof(name), "%s",
			       hb_session_info(session)->name);
		(void)snprintf(
			line, sizeof(line),
			"remove session %s with its changes and its undo?",
			name);
		r = cmd_ask(call, line, err);
		if (r > 0)
			r = hb_session_cleanup(session, err);
		else if (r == 0)
			r = -ECANCELED;
	}
	hb_session_free(session);
	if (r == -ECANCELED) {
		cli_say("nothing was removed");
		return HB_EXIT_OK;
	}
	if (r < 0)
		return r;
	(void)snprintf(line, sizeof(line), "removed session %s",
		       name[0] ? name : ref + 1);
	return report(call, "cleanup", "name", name[0] ? name : ref + 1, line,
		      err);
}

int cmd_cleanup(const struct cmd_call *call, struct hb_error *err)
{
	struct hb_store *store = NULL;
	const char *ref;
	int rest, r;

	r = cmd_session_operand(call, false, &ref, &rest, err);
	if (r < 0)
		return r;
	if (ref && (call->values->stale || sweep_is_meant(call->values))) {
		hb_fix(err, "holdback cleanup %s, or the option alone", ref);
		return hb_fail(err, -HB_E_USAGE,
			       "--stale, --all, --committed and --older take "
			       "no session: they look at all");
	}
	if (call->values->stale && sweep_is_meant(call->values)) {
		hb_fix(err, "one command each");
		return hb_fail(err, -HB_E_USAGE,
			       "--stale excludes --all, --committed and "
			       "--older");
	}
	if (call->values->stale)
		return clean_stale(call, err);
	if (sweep_is_meant(call->values))
		return sweep_sessions(call, err);
	r = cmd_open_store(call, false, &store, err);
	if (r >= 0 && (!ref || strcmp(ref, "@") == 0))
		r = choose_only(store, "cleanup", CHOOSE_BY_PENDING, err);
	if (r >= 0)
		r = clean(call, ref, store, err);
	hb_store_free(store);
	return r;
}
