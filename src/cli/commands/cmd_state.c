/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/say.h"
#include "cli/show/show.h"
#include "cli/show/state_text.h"
#include "holdback/holdback.h"
#include "holdback/state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `holdback state`. */

struct list {
	struct doc *doc;
	const char *home;
	char project[PATH_MAX];
	size_t n;
};

/* What an agent wrote does not speak to the terminal. */
static void add_text(const char *text, size_t n, struct buf *out)
{
	if (!hb_is_terminal(STDOUT_FILENO)) {
		(void)buf_add(out, text, n);
		return;
	}
	for (size_t i = 0; i < n;) {
		uint32_t code = 0;
		size_t len = utf8_next(text + i, n - i, &code);
		bool is_shown = text[i] == '\n' || text[i] == '\t' ||
				(len > 0 && !utf8_is_hidden(code));

		len = len > 0 ? len : 1;
		if (is_shown)
			(void)buf_add(out, text + i, len);
		else
			(void)buf_add_char(out, '?');
		i += len;
	}
}

static int list_one(void *ctx, const struct hb_state_file *file,
		    struct hb_error *err)
{
	struct list *list = ctx;
	struct doc *doc = list->doc;

	list->n++;
	if (file->text && !doc->is_json) {
		add_text(file->text, file->size, &doc->out);
		return doc_flow(doc, err);
	}
	if (!doc->is_json &&
	    (list->n == 1 || strcmp(list->project, file->project) != 0)) {
		(void)snprintf(list->project, sizeof(list->project), "%s",
			       file->project);
		(void)quote_name(file->project, strlen(file->project),
				 &doc->out);
		(void)buf_add_str(&doc->out, ":\n");
	}
	if (!doc->is_json)
		(void)buf_add_str(&doc->out, "  ");
	state_show_file(file, list->home, doc);
	if (!doc->is_json) {
		(void)buf_add_str(&doc->out, " · ");
		(void)show_size(file->size, &doc->out);
		(void)buf_add_char(&doc->out, '\n');
	}
	return doc_flow(doc, err);
}

static int list(const struct cmd_call *call, struct hb_store *store,
		const struct hb_state_options *options, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	struct list l = { .doc = &doc, .home = state_home(call->envp) };
	int r;

	doc_begin(&doc, call->values->json, "state");
	/* The bytes of a file are an agent's. */
	doc.is_raw = options->path;
	if (doc.is_json) {
		json_key(&doc.json, "state");
		json_array(&doc.json);
	}
	r = hb_state_list(store, options, list_one, &l, err);
	if (r < 0)
		return r;
	if (doc.is_json)
		json_end(&doc.json);
	else if (l.n == 0 && !options->path)
		(void)buf_add_str(&doc.out,
				  "no state of an agent is carried here\n");
	if (l.n == 0 && options->path) {
		hb_fix(err, "holdback state lists the files");
		return hb_fail(err, -HB_E_USAGE, "'%.400s' is not carried",
			       options->path);
	}
	return doc_end(&doc, err);
}

/* --forget and --take. */
static int change(const struct cmd_call *call, struct hb_store *store,
		  const struct hb_state_options *options, struct hb_error *err)
{
	bool forgets = call->values->forget;
	auto_doc struct doc doc = { 0 };
	uint64_t n = 0;
	int r;

	r = cmd_ask(call,
		    forgets ? "forget this state?"
			    : "give this state to every later run, also to "
			      "one with more rights?",
		    err);
	if (r < 0)
		return r;
	if (r == 0) {
		cli_say("nothing was changed");
		return HB_EXIT_OK;
	}
	r = forgets ? hb_state_forget(store, options, &n, err)
		    : hb_state_take(store, options, &n, err);
	if (r < 0)
		return r;
	doc_begin(&doc, call->values->json, "state");
	if (doc.is_json)
		doc_uint(&doc, forgets ? "forgotten" : "taken", n);
	else
		(void)buf_add_fmt(&doc.out, "%s %llu file%s of agent state\n",
				  forgets ? "forgot" : "took",
				  (unsigned long long)n, n == 1 ? "" : "s");
	return doc_end(&doc, err);
}

/* --publish and --undo. */
static int change_login(const struct cmd_call *call, struct hb_store *store,
			const struct hb_state_options *options,
			struct hb_error *err)
{
	bool undoes = call->values->undo_login;
	auto_doc struct doc doc = { 0 };
	uint64_t n = 0;
	int r;

	if (!options->agent) {
		hb_fix(err, "holdback state claude --%s",
		       undoes ? "undo" : "publish");
		return hb_fail(err, -HB_E_USAGE, "an agent has to be named");
	}
	r = undoes ? hb_state_undo(store, options->agent, &n, err)
		   : hb_state_publish(store, options, &n, err);
	if (r < 0)
		return r;
	doc_begin(&doc, call->values->json, "state");
	if (doc.is_json)
		doc_uint(&doc, undoes ? "undone" : "published", n);
	else if (n == 0)
		(void)buf_add_fmt(&doc.out, "the host has this login of %s\n",
				  options->agent);
	else if (undoes)
		(void)buf_add_fmt(&doc.out,
				  "put the login of %s back that the last one "
				  "replaced\n",
				  options->agent);
	else
		(void)buf_add_fmt(&doc.out,
				  "published the login of %s; holdback state "
				  "%s --undo puts the old one back\n",
				  options->agent, options->agent);
	return doc_end(&doc, err);
}

/* A path of the user's, absolute; "~/" is what `state` prints. */
static int find_path(const struct cmd_call *call, const char *word, char *ret,
		     struct hb_error *err)
{
	const char *home = state_home(call->envp);
	int n;

	if (word[0] == '~' && word[1] == '/')
		n = snprintf(ret, PATH_MAX, "%s%s", home, word + 1);
	else
		n = snprintf(ret, PATH_MAX, "%s", word);
	if (n >= PATH_MAX || ret[0] != '/') {
		hb_fix(err, "the path as 'holdback state' prints it");
		return hb_fail(err, -HB_E_USAGE, "'%.400s' is not absolute",
			       word);
	}
	return 0;
}

int cmd_state(const struct cmd_call *call, struct hb_error *err)
{
	const struct cli_values *v = call->values;
	struct hb_state_options options = { .is_all = v->is_all };
	struct hb_store *store = NULL;
	char path[PATH_MAX];
	int r = 0;

	if (v->forget + v->take_state + v->publish_login + v->undo_login > 1)
		return hb_fail(err, -HB_E_USAGE,
			       "--forget, --take, --publish and --undo exclude "
			       "each other");
	if (call->n_operands > 0)
		options.agent = call->operands[0];
	if (call->n_operands > 1) {
		r = find_path(call, call->operands[1], path, err);
		options.path = path;
	}
	if (r >= 0)
		r = cmd_open_store(call, false, &store, err);
	if (r >= 0 && (v->publish_login || v->undo_login))
		r = change_login(call, store, &options, err);
	else if (r >= 0)
		r = v->forget || v->take_state
			    ? change(call, store, &options, err)
			    : list(call, store, &options, err);
	hb_store_free(store);
	return r;
}
