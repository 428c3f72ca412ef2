/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/quote.h"
#include "cli/commands/cmd.h"
#include "cli/front/table.h"
#include "cli/front/table_run.h"
#include "cli/show/doc.h"
#include "holdback/holdback.h"

#include <string.h>

/* `holdback config` and `holdback profile`. */

/* Wide enough for most, so that the places stand below each other. */
#define COLUMN 40

static void add_value_json(struct doc *doc, const struct hb_config_value *v)
{
	json_object(&doc->json);
	doc_str(doc, "key", v->key);
	doc_str(doc, "value", v->value);
	doc_str(doc, "source", v->source);
	if (v->file)
		doc_str(doc, "file", v->file);
	if (v->line)
		doc_uint(doc, "line", v->line);
	json_end(&doc->json);
}

/* A line of the grammar that it was read by, and where it stood. */
static void add_value(void *context, const struct hb_config_value *v)
{
	struct doc *doc = context;
	size_t start = doc->out.len, n;

	if (doc->is_json) {
		add_value_json(doc, v);
		return;
	}
	(void)buf_add_fmt(&doc->out, "%s = ", v->key);
	(void)quote_name(v->value, strlen(v->value), &doc->out);
	n = doc->out.len - start;
	(void)buf_add_fill(&doc->out, ' ', n < COLUMN ? COLUMN - n : 1);
	(void)buf_add_fmt(&doc->out, "# %s\n", v->words);
}

static void begin_list(struct doc *doc, bool is_json, const char *command,
		       const char *key)
{
	doc_begin(doc, is_json, command);
	if (!doc->is_json)
		return;
	json_key(&doc->json, key);
	json_array(&doc->json);
}

static int end_list(struct doc *doc, struct hb_error *err)
{
	if (doc->is_json)
		json_end(&doc->json);
	return doc_end(doc, err);
}

/* An option behind the command's name would not count. */
static int check_words(char *const *words, struct hb_error *err)
{
	for (size_t i = 0; words[i]; i++) {
		if (words[i][0] != '-')
			continue;
		hb_fix(err, "our own options come first, those of a run after "
			    "'run'");
		return hb_fail(err, -HB_E_USAGE, "'%s' would not count there",
			       quoted(words[i]));
	}
	return 0;
}

int cmd_run_words(const struct cmd_call *call, char **words,
		  struct cli_values *values, struct hb_run_options *ret_options,
		  struct hb_error *err)
{
	const struct command *c = command_find(&cli_program, "run");
	bool is_run = words[0] && strcmp(words[0], "run") == 0;
	char **argv = words;
	int unused, r;

	if (is_run) {
		argv = words + 1;
		r = option_parse(&cli_program, c, argv, values, argv, err);
		if (r < 0)
			return r;
		if (values->help || values->version)
			return hb_fail(err, -HB_E_USAGE, "nothing would run");
		r = hb_work_in(values->directory, &unused, err);
		if (r < 0)
			return r;
	} else {
		r = check_words(words, err);
		if (r < 0)
			return r;
	}
	cli_run_options(values, argv[0] ? argv : NULL, call->envp, ret_options);
	return 0;
}

int cmd_config(const struct cmd_call *call, struct hb_error *err)
{
	struct cli_values values = { 0 };
	struct hb_run_options options;
	auto_doc struct doc doc = { 0 };
	int r;

	r = cmd_run_words(call, call->operands, &values, &options, err);
	if (r < 0)
		return r;
	begin_list(&doc, call->values->json, "config", "values");
	r = hb_config(&options, add_value, &doc, err);
	return r < 0 ? r : end_list(&doc, err);
}

static void add_profile(void *context, const struct hb_profile *profile)
{
	struct doc *doc = context;

	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "name", profile->name);
		if (profile->summary)
			doc_str(doc, "summary", profile->summary);
		if (profile->file)
			doc_str(doc, "file", profile->file);
		json_end(&doc->json);
		return;
	}
	(void)quote_name(profile->name, strlen(profile->name), &doc->out);
	if (profile->file) {
		(void)buf_add_str(&doc->out, "\t");
		(void)quote_name(profile->file, strlen(profile->file),
				 &doc->out);
		(void)buf_add_str(&doc->out, "\n");
	} else {
		(void)buf_add_fmt(&doc->out, "\t%s\n", profile->summary);
	}
}

int cmd_profile(const struct cmd_call *call, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	const char *name = call->operands[0];
	int r;

	begin_list(&doc, call->values->json, "profile",
		   name ? "values" : "profiles");
	r = name ? hb_profile(name, call->envp, add_value, &doc, err)
		 : hb_profiles(call->envp, add_profile, &doc, err);
	return r < 0 ? r : end_list(&doc, err);
}
