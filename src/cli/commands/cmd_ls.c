/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/depth.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* `holdback ls`. */

#define LINE "%-16s %-8s %4s %8s %-10s %-16s "

/* A session as the list shows it. */
struct row {
	struct hb_store *store;
	struct doc *doc;
	size_t n;
};

static void add_line(const struct hb_session_info *info,
		     const struct depth *depth, struct buf *out)
{
	char age[32], changes[32] = "?", command[QUOTE_SHOWN] = "-";

	if (depth->is_known)
		(void)snprintf(changes, sizeof(changes), "%llu",
			       (unsigned long long)depth->n_changes);
	if (info->command[0])
		(void)quote_shown(info->command, command, sizeof(command));
	(void)buf_add_fmt(out, LINE, info->name, hb_state_name(info->state),
			  show_age(info->used, age, sizeof(age)), changes,
			  depth->mark[0] ? depth->mark : "-", command);
	for (size_t i = 0; i < info->n_resources; i++) {
		if (i > 0)
			(void)buf_add_char(out, ' ');
		(void)quote_name(info->resources[i].source,
				 strlen(info->resources[i].source), out);
	}
	/* Last, so that the paths of all are in one column. */
	if (info->undo_bytes > 0) {
		(void)buf_add_str(out, " · undo ");
		(void)show_size(info->undo_bytes, out);
	}
	if (info->interrupted)
		(void)buf_add_fmt(out, " · %s interrupted", info->interrupted);
	(void)buf_add_char(out, '\n');
}

static int list_one(void *ctx, const struct hb_session_info *info,
		    struct hb_error *err)
{
	struct row *row = ctx;
	struct doc *doc = row->doc;
	struct depth depth;

	depth_look(row->store, info->name, HB_OPEN_GLANCE, &depth);
	if (doc->is_json) {
		json_object(&doc->json);
		show_session_json(info, doc);
		if (depth.is_known)
			doc_uint(doc, "pending", depth.n_changes);
		if (depth.mark[0])
			doc_str(doc, "mark", depth.mark);
		json_end(&doc->json);
		return doc_flow(doc, err);
	}
	/* For people: a script that reads lines expects sessions alone. */
	if (row->n++ == 0 && hb_is_terminal(STDOUT_FILENO))
		(void)buf_add_fmt(&doc->out, LINE "%s\n", "SESSION", "STATE",
				  "AGE", "CHANGES", "MARK", "COMMAND",
				  "DIRECTORY");
	add_line(info, &depth, &doc->out);
	return doc_flow(doc, err);
}

int cmd_ls(const struct cmd_call *call, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	struct hb_store *store = NULL;
	struct row row = { .doc = &doc };
	int r;

	r = cmd_open_store(call, false, &store, err);
	if (r < 0)
		return r;
	row.store = store;
	doc_begin(&doc, call->values->json, "ls");
	if (doc.is_json) {
		json_key(&doc.json, "sessions");
		json_array(&doc.json);
	}
	r = hb_store_list(store, list_one, &row, err);
	hb_store_free(store);
	if (r < 0)
		return r;
	if (doc.is_json)
		json_end(&doc.json);
	return doc_end(&doc, err);
}
