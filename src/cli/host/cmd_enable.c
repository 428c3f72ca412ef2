/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"
#include "cli/commands/cmd.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "holdback/enabled.h"

#include <limits.h>
#include <string.h>

/* `holdback enable` and `holdback disable`. */

/* By enum hb_reach: the word of documents, and the sentence of a line. */
static const struct {
	const char *word, *text;
} reaches[] = {
	[HB_REACH_ON] = { "on", "starts in a sandbox" },
	[HB_REACH_BEHIND] = { "behind", "is not reached: PATH finds the "
					"program before the link" },
	[HB_REACH_ABSENT] = { "absent", "is not reached: PATH lacks the "
					"directory of the link" },
	[HB_REACH_MISSING] = { "missing", "PATH has no program of this name" },
	[HB_REACH_STALE] = { "stale", "leads to a holdback that is gone: "
				      "type 'holdback enable' with this name" },
};

static void add_link(void *ctx, const struct hb_enabled *link)
{
	struct doc *doc = ctx;

	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "name", link->name);
		doc_str(doc, "reach", reaches[link->reach].word);
		if (link->program[0])
			doc_str(doc, "program", link->program);
		json_end(&doc->json);
		return;
	}
	(void)buf_add_fmt(&doc->out, "%s: %s", link->name,
			  reaches[link->reach].text);
	if (link->program[0]) {
		(void)buf_add_str(&doc->out, ": ");
		(void)quote_name(link->program, strlen(link->program),
				 &doc->out);
	}
	(void)buf_add_char(&doc->out, '\n');
}

/* One word for bash, zsh and fish alike. */
static void add_word(const char *text, struct buf *out)
{
	(void)buf_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			(void)buf_add_str(out, "'\\''");
		else
			(void)buf_add_char(out, *text);
	}
	(void)buf_add_char(out, '\'');
}

static void add_path_line(const char *dir, const char *shell, struct buf *out)
{
	bool is_fish = shell && strcmp(shell, "fish") == 0;

	(void)buf_add_str(out, is_fish ? "set -gx PATH " : "export PATH=");
	add_word(dir, out);
	(void)buf_add_str(out, is_fish ? " $PATH\n" : ":\"$PATH\"\n");
}

static int add_links(const struct cmd_call *call, struct doc *doc,
		     struct hb_error *err)
{
	int r = 0;

	if (call->n_operands == 0)
		return hb_enabled_each(NULL, call->envp, add_link, doc, err);
	for (int i = 0; r >= 0 && i < call->n_operands; i++)
		r = hb_enabled_each(call->operands[i], call->envp, add_link,
				    doc, err);
	return r;
}

static int print_links(const struct cmd_call *call, const char *dir,
		       struct hb_error *err)
{
	bool is_in_path = hb_enabled_in_path(call->envp);
	auto_doc struct doc doc = { 0 };
	int r;

	doc_begin(&doc, call->values->json, "enable");
	if (doc.is_json) {
		doc_str(&doc, "directory", dir);
		doc_bool(&doc, "in_path", is_in_path);
		json_key(&doc.json, "enabled");
		json_array(&doc.json);
	}
	r = add_links(call, &doc, err);
	if (r < 0)
		return r;
	if (doc.is_json) {
		json_end(&doc.json);
	} else if (doc.out.len == 0) {
		(void)buf_add_str(&doc.out, "no program is enabled\n");
	} else if (!is_in_path) {
		(void)buf_add_str(&doc.out,
				  "Add this line to the start-up file of your "
				  "shell, and type it once:\n  ");
		add_path_line(dir, NULL, &doc.out);
	}
	return doc_end(&doc, err);
}

int cmd_enable(const struct cmd_call *call, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	char dir[PATH_MAX];
	int r;

	r = hb_enabled_dir(call->envp, dir, err);
	for (int i = 0; r >= 0 && i < call->n_operands; i++)
		r = hb_enable(call->operands[i], call->envp, err);
	if (r < 0)
		return r;
	if (!call->values->shell)
		return print_links(call, dir, err);
	doc_begin(&doc, false, "enable");
	doc.is_raw = true;
	add_path_line(dir, call->values->shell, &doc.out);
	return doc_end(&doc, err);
}

int cmd_disable(const struct cmd_call *call, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	int r;

	doc_begin(&doc, call->values->json, "disable");
	if (doc.is_json) {
		json_key(&doc.json, "disabled");
		json_array(&doc.json);
	}
	for (int i = 0; i < call->n_operands; i++) {
		const char *name = call->operands[i];

		r = hb_disable(name, call->envp, err);
		if (r < 0)
			return r;
		if (doc.is_json && r > 0)
			json_str(&doc.json, name);
		else if (!doc.is_json)
			(void)buf_add_fmt(&doc.out, "%s: %s\n", name,
					  r > 0 ? "the link is removed"
						: "was not enabled");
	}
	if (doc.is_json)
		json_end(&doc.json);
	return doc_end(&doc, err);
}
