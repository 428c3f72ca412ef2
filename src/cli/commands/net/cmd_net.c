/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "holdback/net.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* `holdback net`: whom a command may talk to. */

#define COLUMN 40

static void add_rule_json(struct doc *doc, const struct hb_net_rule *rule)
{
	json_object(&doc->json);
	doc_str(doc, "rule", rule->text);
	doc_bool(doc, "deny", rule->is_deny);
	doc_bool(doc, "open", rule->is_open);
	doc_bool(doc, "live", rule->is_live);
	if (rule->group)
		doc_str(doc, "group", rule->group);
	if (rule->by.key)
		doc_str(doc, "source", rule->by.source);
	if (rule->by.key && rule->by.file)
		doc_str(doc, "file", rule->by.file);
	if (rule->by.key && rule->by.line)
		doc_uint(doc, "line", rule->by.line);
	json_end(&doc->json);
}

/* Where it stands, and what is to be known of it. */
static void add_remarks(struct doc *doc, const struct hb_net_rule *rule)
{
	const char *before = "# ";

	if (rule->is_live) {
		(void)buf_add_fmt(&doc->out, "%sadded since the start", before);
		before = ", ";
	}
	if (rule->by.key) {
		(void)buf_add_fmt(&doc->out, "%s%s", before, rule->by.words);
		before = ", ";
	}
	if (rule->group && rule->by.key)
		(void)buf_add_fmt(&doc->out, ", @%s", rule->group);
	if (rule->is_open)
		(void)buf_add_fmt(&doc->out, "%suploads possible", before);
}

static void add_rule(void *context, const struct hb_net_rule *rule)
{
	struct doc *doc = context;
	size_t start = doc->out.len, n;

	if (doc->is_json) {
		add_rule_json(doc, rule);
		return;
	}
	if (rule->group && !rule->by.key)
		(void)buf_add_fmt(&doc->out, "@%-12s %s", rule->group,
				  rule->text);
	else
		(void)buf_add_fmt(&doc->out, "%s = %s",
				  rule->is_deny ? "deny" : "allow", rule->text);
	n = doc->out.len - start;
	(void)buf_add_fill(&doc->out, ' ', n < COLUMN ? COLUMN - n : 1);
	add_remarks(doc, rule);
	while (doc->out.data[doc->out.len - 1] == ' ')
		buf_cut(&doc->out, doc->out.len - 1);
	(void)buf_add_char(&doc->out, '\n');
}

static void begin_rules(struct doc *doc, const struct cmd_call *call)
{
	doc_begin(doc, call->values->json, "net");
	if (!doc->is_json)
		return;
	json_key(&doc->json, "rules");
	json_array(&doc->json);
}

static int open_live(const struct cmd_call *call, struct hb_store **ret_store,
		     struct hb_error *err)
{
	int r = cmd_open_store(call, false, ret_store, err);

	if (r >= 0 && !call->values->net_session)
		r = choose_only(*ret_store, "net", CHOOSE_BY_LIVE, err);
	return r;
}

/* Of a session that runs. */
static int list_live(const struct cmd_call *call, struct doc *doc,
		     struct hb_error *err)
{
	struct hb_store *store = NULL;
	int r = open_live(call, &store, err);

	if (r >= 0)
		r = hb_net_order(store, call->values->net_session, HB_NET_LIST,
				 "", add_rule, doc, err);
	hb_store_free(store);
	if (r >= 0 && doc->is_json)
		json_end(&doc->json);
	return r;
}

/* Of the settings here, as a run without a profile of its own has them. */
static int list_settings(const struct cmd_call *call, char **words,
			 struct doc *doc, struct hb_error *err)
{
	struct cli_values values = { 0 };
	struct hb_run_options options;
	const char *net = "";
	int r;

	r = cmd_run_words(call, words, &values, &options, err);
	if (r >= 0)
		r = hb_net_rules(&options, add_rule, doc, &net, err);
	if (r < 0)
		return r;
	if (doc->is_json) {
		json_end(&doc->json);
		doc_str(doc, "net", net);
	} else {
		(void)buf_add_fmt(&doc->out, "net = %s\n", net);
	}
	return 0;
}

static int net_list(const struct cmd_call *call, char **words,
		    struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	int r = 0;

	begin_rules(&doc, call);
	if (call->values->groups) {
		hb_net_groups(add_rule, &doc);
		if (doc.is_json)
			json_end(&doc.json);
	} else if (call->values->net_session) {
		r = list_live(call, &doc, err);
	} else {
		r = list_settings(call, words, &doc, err);
	}
	return r < 0 ? r : doc_end(&doc, err);
}

/* The records of the log that are about the network. */
static int net_log(const struct cmd_call *call, char **words,
		   struct hb_error *err)
{
	struct cli_values values = *call->values;
	struct cmd_call about = *call;
	char ref[HB_SESSION_NAME_SIZE + 1];
	char *operands[] = { ref, NULL };

	if (words[0])
		return hb_fail(err, -HB_E_USAGE, "'%s' is too much",
			       quoted(words[0]));
	values.kind = "net";
	about.values = &values;
	about.operands = values.net_session ? operands : operands + 1;
	about.n_operands = values.net_session != NULL;
	(void)snprintf(ref, sizeof(ref), "@%s",
		       values.net_session ? values.net_session : "");
	return cmd_log(&about, err);
}

static int order_live(const struct cmd_call *call, enum hb_net_order order,
		      char **words, struct hb_error *err)
{
	struct hb_store *store = NULL;
	int r = open_live(call, &store, err);

	for (size_t i = 0; r >= 0 && words[i]; i++)
		r = hb_net_order(store, call->values->net_session, order,
				 words[i], NULL, NULL, err);
	hb_store_free(store);
	return r;
}

static int keep_rules(const struct cmd_call *call, char **words, bool is_deny,
		      struct doc *doc, struct hb_error *err)
{
	char file[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r >= 0 && words[i]; i++) {
		r = hb_net_keep(call->envp, NULL, is_deny, words[i], file, err);
		if (r >= 0 && !doc->is_json)
			(void)buf_add_fmt(
				&doc->out, "%s = %s  # %s%s\n",
				is_deny ? "deny" : "allow", words[i],
				r > 0 ? "" : "was there: ", quoted(file));
	}
	return r;
}

/* What was changed: of a session that runs, of the settings, or of both. */
static int end_change(struct doc *doc, bool is_live, bool is_kept,
		      struct hb_error *err)
{
	if (doc->is_json) {
		doc_bool(doc, "live", is_live);
		doc_bool(doc, "kept", is_kept);
	} else if (is_live) {
		(void)buf_add_str(&doc->out, "it counts for new connections\n");
	}
	return doc_end(doc, err);
}

/* A rule that is kept need not have a session. */
static int change(const struct cmd_call *call, char **words, bool is_deny,
		  struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	struct hb_error why = { 0 };
	bool is_kept = call->values->keep_rule;
	int live, r = 0;

	if (!words[0]) {
		hb_fix(err, "holdback net %s HOST", is_deny ? "deny" : "allow");
		return hb_fail(err, -HB_E_USAGE, "there is no rule");
	}
	doc_begin(&doc, call->values->json, "net");
	if (is_kept)
		r = keep_rules(call, words, is_deny, &doc, err);
	if (r < 0)
		return r;
	live = order_live(call, is_deny ? HB_NET_DENY : HB_NET_ALLOW, words,
			  &why);
	if (live < 0 && (!is_kept || call->values->net_session))
		return hb_pass(err, &why, live);
	return end_change(&doc, live >= 0, is_kept, err);
}

static int net_port(const struct cmd_call *call, char **words,
		    struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	int r;

	if (!words[0]) {
		hb_fix(err, "holdback net port [OUTSIDE:]INSIDE");
		return hb_fail(err, -HB_E_USAGE, "there is no port");
	}
	doc_begin(&doc, call->values->json, "net");
	r = order_live(call, HB_NET_PUBLISH, words, err);
	if (r < 0)
		return r;
	if (doc.is_json)
		doc_bool(&doc, "live", true);
	else
		(void)buf_add_str(&doc.out, "it can be reached\n");
	return doc_end(&doc, err);
}

static int net_watch(const struct cmd_call *call, char **words,
		     struct hb_error *err)
{
	struct hb_store *store = NULL;
	int r;

	(void)words;
	r = open_live(call, &store, err);
	if (r >= 0)
		r = hb_net_watch(store, call->values->net_session, err);
	hb_store_free(store);
	return r;
}

static int net_allow(const struct cmd_call *call, char **words,
		     struct hb_error *err)
{
	return change(call, words, false, err);
}

static int net_deny(const struct cmd_call *call, char **words,
		    struct hb_error *err)
{
	return change(call, words, true, err);
}

static const struct {
	const char *word;
	int (*run)(const struct cmd_call *call, char **words,
		   struct hb_error *err);
} verbs[] = {
	{ "list", net_list }, { "allow", net_allow }, { "deny", net_deny },
	{ "port", net_port }, { "watch", net_watch }, { "log", net_log },
};

int cmd_net(const struct cmd_call *call, struct hb_error *err)
{
	const char *word = call->operands[0];
	struct suggestion s;

	if (!word)
		word = verbs[0].word;
	suggestion_init(&s, word);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(word, verbs[i].word) == 0)
			return verbs[i].run(
				call, call->operands + (call->n_operands > 0),
				err);
		suggestion_offer(&s, verbs[i].word);
	}
	if (s.best)
		hb_fix(err, "did you mean 'holdback net %s'?", s.best);
	hb_fix(err, "list, allow, deny, port, watch or log");
	return hb_fail(err, -HB_E_USAGE, "'%s' is nothing that net does",
		       quoted(word));
}
