/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/json.h"
#include "cli/commands/cmd.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "holdback/strategies.h"

#include <stdio.h>
#include <string.h>

/* `holdback strategies`: which strategy holds back which type of resource. */

#define OPTION_SIZE 96

/* The default is had by naming the resource. */
static void option_of(const struct hb_strategy_cell *cell,
		      char ret[OPTION_SIZE])
{
	if (cell->is_default)
		(void)snprintf(ret, OPTION_SIZE, "%s", cell->option);
	else
		(void)snprintf(ret, OPTION_SIZE, "%s --strategy %s",
			       cell->option, cell->strategy);
}

static void add_text(const struct hb_strategy_cell *cell, bool is_first,
		     struct buf *out)
{
	char option[OPTION_SIZE];

	option_of(cell, option);
	if (is_first)
		(void)buf_add_fmt(out, "%s\n", cell->type);
	(void)buf_add_fmt(out, "  %-21s %s\n", cell->strategy, cell->words);
	(void)buf_add_fmt(out, "  %-21s %s%s", "", option,
			  cell->is_default ? ", the default" : "");
	if (cell->fallback)
		(void)buf_add_fmt(out, "; where it cannot be had, %s",
				  cell->fallback);
	(void)buf_add_char(out, '\n');
}

static void add_json(const struct hb_strategy_cell *cell, struct doc *doc)
{
	char option[OPTION_SIZE];

	option_of(cell, option);
	json_object(&doc->json);
	doc_str(doc, "type", cell->type);
	doc_str(doc, "strategy", cell->strategy);
	doc_str(doc, "option", option);
	doc_bool(doc, "default", cell->is_default);
	if (cell->fallback)
		doc_str(doc, "fallback", cell->fallback);
	doc_str(doc, "about", cell->words);
	json_end(&doc->json);
}

int cmd_strategies(const struct cmd_call *call, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	struct hb_strategy_cell cell;
	const char *before = "";

	doc_begin(&doc, call->values->json, "strategies");
	if (doc.is_json) {
		json_key(&doc.json, "strategies");
		json_array(&doc.json);
	}
	for (size_t i = 0; hb_strategy_cell(i, &cell); i++) {
		if (doc.is_json)
			add_json(&cell, &doc);
		else
			add_text(&cell, strcmp(cell.type, before) != 0,
				 &doc.out);
		before = cell.type;
	}
	if (doc.is_json)
		json_end(&doc.json);
	return doc_end(&doc, err);
}
