/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/depth.h"
#include "cli/front/table.h"
#include "cli/show/colour.h"
#include "cli/show/doc.h"
#include "cli/show/show.h"
#include "cli/show/state_text.h"
#include "cli/show/wrap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* `holdback ls`. */

#define PATH_SIZE ((size_t)1 << 16)

/* The columns before the directory: what a script reads, and a terminal's. */
#define LINE	   "%-16s %-8s %4s %8s %-10s %-16s "
#define LINE_SHORT "%-14s %s%-7s%s %4s %7s %-8s "

#define COMMAND_WIDE  14
#define DIRECTORY_MIN 12 /* less of a path tells nothing */

/* A session as the list shows it. */
struct row {
	struct hb_store *store;
	struct doc *doc;
	const char *home;
	size_t n;
};

/* By enum hb_state; a state that is not here is nothing to look at. */
static const enum colour state_colours[HB_STATES] = {
	[HB_STATE_LIVE] = COLOUR_ADDED,
	[HB_STATE_CRASHED] = COLOUR_WARNING,
	[HB_STATE_BROKEN] = COLOUR_DELETED,
	[HB_STATE_UNREADABLE] = COLOUR_DELETED,
	[HB_STATE_ORPHAN] = COLOUR_WARNING,
};

/* On a terminal: a column is counted in characters, not in bytes. */
static void add_command(const struct row *row, const char *command)
{
	struct buf *out = &row->doc->out;
	size_t start = out->len, wide;

	(void)wrap_cut_end(command, COMMAND_WIDE, out);
	wide = wrap_width(out->data + start, out->len - start);
	(void)buf_add_fill(out, ' ', COMMAND_WIDE + 1 - wide);
}

/* All columns but the directories. */
static void add_front(const struct row *row, const struct hb_session_info *info,
		      const struct depth *depth)
{
	char age[32], changes[32] = "?", command[QUOTE_SHOWN] = "-";
	bool has_colour = row->doc->has_colour;
	enum colour colour = state_colours[info->state];
	const char *mark = depth->mark[0] ? depth->mark : "-";

	if (depth->is_known)
		(void)snprintf(changes, sizeof(changes), "%llu",
			       (unsigned long long)depth->n_changes);
	if (info->command[0])
		(void)quote_shown(info->command, command, sizeof(command));
	(void)show_age(info->used, age, sizeof(age));
	if (row->doc->columns == 0) {
		(void)buf_add_fmt(&row->doc->out, LINE, info->name,
				  hb_state_name(info->state), age, changes,
				  mark, command);
		return;
	}
	(void)buf_add_fmt(&row->doc->out, LINE_SHORT, info->name,
			  colour_begin(has_colour, colour),
			  hb_state_name(info->state),
			  colour_end(has_colour, colour), age, changes, mark);
	add_command(row, command);
}

/* In the rest of the line: of a path, its end tells more. */
static void add_directory(const struct row *row, const char *source,
			  size_t start)
{
	auto_buf struct buf shown = BUF_INIT(PATH_SIZE);
	struct doc *doc = row->doc;
	size_t at = wrap_width(doc->out.data + start, doc->out.len - start);

	if (doc->columns == 0) {
		(void)quote_name(source, strlen(source), &doc->out);
		return;
	}
	state_add_path(source, row->home, &shown);
	(void)wrap_cut(buf_str(&shown),
		       at + DIRECTORY_MIN <= doc->columns ? doc->columns - at
							  : doc->columns,
		       &doc->out);
}

static void add_line(const struct row *row, const struct hb_session_info *info,
		     const struct depth *depth)
{
	struct buf *out = &row->doc->out;
	size_t start = out->len;

	add_front(row, info, depth);
	for (size_t i = 0; i < info->n_resources; i++) {
		if (i > 0)
			(void)buf_add_char(out, ' ');
		add_directory(row, info->resources[i].source, start);
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

/* For people: a script that reads lines expects sessions alone. */
static void add_head(const struct row *row)
{
	struct doc *doc = row->doc;

	if (!hb_is_terminal(STDOUT_FILENO))
		return;
	(void)buf_add_str(&doc->out,
			  colour_begin(doc->has_colour, COLOUR_HEAD));
	if (doc->columns > 0)
		(void)buf_add_fmt(&doc->out, LINE_SHORT, "SESSION", "", "STATE",
				  "", "AGE", "CHANGES", "MARK");
	if (doc->columns > 0)
		add_command(row, "COMMAND");
	else
		(void)buf_add_fmt(&doc->out, LINE, "SESSION", "STATE", "AGE",
				  "CHANGES", "MARK", "COMMAND");
	(void)buf_add_fmt(&doc->out, "DIRECTORY%s\n",
			  colour_end(doc->has_colour, COLOUR_HEAD));
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
	if (row->n++ == 0)
		add_head(row);
	add_line(row, info, &depth);
	return doc_flow(doc, err);
}

int cmd_ls(const struct cmd_call *call, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	struct hb_store *store = NULL;
	struct row row = { .doc = &doc, .home = state_home(call->envp) };
	int r;

	r = cmd_open_store(call, false, &store, err);
	if (r < 0)
		return r;
	row.store = store;
	hb_store_sweep(store);
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
	else if (row.n == 0 && hb_is_terminal(STDOUT_FILENO))
		(void)buf_add_str(&doc.out,
				  "no sessions; holdback COMMAND begins one\n");
	return doc_end(&doc, err);
}
