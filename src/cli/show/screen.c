/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/screen.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/time.h"
#include "cli/show/colour.h"
#include "cli/show/findings.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

#define ROWS	 20
#define PAST_MAX 3
#define TEXT_MAX ((size_t)64 << 20)

struct places {
	const struct hb_session_info *info;
	struct doc *doc;
};

static int show_place(void *ctx, const struct hb_place *place,
		      struct hb_error *err)
{
	const struct places *places = ctx;
	struct doc *doc = places->doc;

	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "source",
			places->info->resources[place->resource].source);
		doc_str(doc, "path", place->path);
		doc_bool(doc, "upper", place->is_upper);
		json_end(&doc->json);
		return doc_flow(doc, err);
	}
	(void)buf_add_str(&doc->out, place->is_upper ? "  upper " : "  layer ");
	(void)quote_name(place->path, strlen(place->path), &doc->out);
	(void)buf_add_char(&doc->out, '\n');
	return doc_flow(doc, err);
}

static void add_state(const struct hb_session_info *info,
		      const struct hb_summary *summary, struct buf *out)
{
	bool is_live = info->state == HB_STATE_LIVE;

	for (size_t i = 0; i < info->n_resources; i++)
		if (i == 0 || strcmp(info->resources[i].strategy,
				     info->resources[0].strategy) != 0)
			(void)buf_add_fmt(out, "%s%s", i > 0 ? ", " : "",
					  info->resources[i].strategy);
	(void)buf_add_str(out, is_live ? " · mounted" : " · not mounted");
	for (size_t i = 0; is_live && i < info->n_resources; i++) {
		(void)buf_add_str(out, i > 0 ? ", " : " on ");
		(void)quote_name(info->resources[i].inside,
				 strlen(info->resources[i].inside), out);
	}
	(void)buf_add_str(out, " · ");
	(void)show_size(summary->bytes + summary->ignored_bytes, out);
	(void)buf_add_str(out, " held back");
	if (info->view && strcmp(info->view, "host") == 0)
		(void)buf_add_str(out, " · view: the whole host, read-only");
	(void)buf_add_char(out, '\n');
}

int screen_state(struct hb_session *session, const struct hb_summary *summary,
		 bool all, struct doc *doc, struct hb_error *err)
{
	struct places places = { hb_session_info(session), doc };
	int r = 0;

	if (!doc->is_json)
		add_state(places.info, summary, &doc->out);
	if (!doc->is_json && !all)
		return 0;
	if (doc->is_json) {
		json_key(&doc->json, "layers");
		json_array(&doc->json);
	}
	r = hb_session_places(session, show_place, &places, err);
	if (doc->is_json)
		json_end(&doc->json);
	return r;
}

/* One of the newest: its number in the list, and when it changed. */
struct row {
	uint64_t number;
	struct timespec time;
	struct buf text;
};

struct list {
	const struct hb_session_info *info;
	struct doc *doc;
	bool all;
	struct row rows[ROWS]; /* the newest first */
	size_t n_rows;
	uint64_t n_left;  /* that are not among them */
	struct buf gone;  /* a directory that is deleted; empty: none */
	uint64_t n_below; /* what is deleted with it */
	struct buf line;  /* of it */
};

static enum show_as as_of(const struct doc *doc)
{
	return doc->has_colour ? SHOW_COLOURED : SHOW_WORDS;
}

static bool is_always_shown(const struct hb_change *change)
{
	return change->kind == 'D' || change->has_conflict ||
	       change->asks != HB_ASKS_NOTHING;
}

static void note_row(struct list *l, const struct hb_change *change,
		     uint64_t number)
{
	size_t at = l->n_rows;

	while (at > 0 &&
	       time_is_before(l->rows[at - 1].time, change->session_time))
		at--;
	l->n_left += l->n_rows == ROWS;
	if (at == ROWS)
		return;
	if (l->n_rows < ROWS)
		l->n_rows++;
	memmove(l->rows + at + 1, l->rows + at,
		(l->n_rows - at - 1) * sizeof(*l->rows));
	l->rows[at] = (struct row){ .number = number,
				    .time = change->session_time,
				    .text = BUF_INIT(TEXT_MAX) };
}

static void end_gone(struct list *l)
{
	if (l->line.len > 0) {
		/* Without the end of its line. */
		buf_cut(&l->line, l->line.len - 1);
		(void)buf_add_str(&l->doc->out, buf_str(&l->line));
		if (l->n_below > 0)
			(void)buf_add_fmt(&l->doc->out, " (and %llu below)",
					  (unsigned long long)l->n_below);
		(void)buf_add_char(&l->doc->out, '\n');
	}
	buf_cut(&l->line, 0);
	buf_cut(&l->gone, 0);
	l->n_below = 0;
}

static bool is_below_gone(const struct list *l, const struct hb_change *change)
{
	size_t n = l->gone.len;

	return n > 0 && strncmp(change->path, buf_str(&l->gone), n) == 0 &&
	       change->path[n] == '/';
}

/* What is never left out, in path order. */
static int show_always(struct list *l, const struct hb_change *change)
{
	bool is_plain_deletion = change->kind == 'D' && !change->has_conflict &&
				 change->asks == HB_ASKS_NOTHING;

	if (is_plain_deletion && is_below_gone(l, change) && !l->all) {
		l->n_below++;
		return 0;
	}
	if (!is_below_gone(l, change))
		end_gone(l);
	if (!is_plain_deletion || !change->is_directory || l->all ||
	    l->gone.len > 0)
		return show_change(l->info, change, as_of(l->doc),
				   &l->doc->out);
	(void)buf_add_str(&l->gone, change->path);
	(void)show_change(l->info, change, as_of(l->doc), &l->line);
	return l->gone.error ? l->gone.error : l->line.error;
}

static int show_row(struct list *l, const struct hb_change *change,
		    uint64_t number)
{
	for (size_t i = 0; i < l->n_rows; i++)
		if (l->rows[i].number == number)
			return show_change(l->info, change, as_of(l->doc),
					   &l->rows[i].text);
	return 0;
}

/* Twice: which are the newest is known after the first. */
static int pass(struct list *l, struct hb_changes *changes, bool is_first,
		struct hb_error *err)
{
	struct hb_change change;
	struct show_walk walk;
	uint64_t number = 0;
	int r;

	show_walk_init(&walk, changes, l->all);
	while ((r = show_walk_next(&walk, &change, err)) == 1) {
		number++;
		if (is_always_shown(&change) || l->all)
			r = is_first ? 0 : show_always(l, &change);
		else if (is_first)
			note_row(l, &change, number);
		else
			r = show_row(l, &change, number);
		if (r >= 0)
			r = doc_flow(l->doc, err);
		else
			(void)hb_fail(err, r, "cannot show a change");
		if (r < 0)
			break;
	}
	show_walk_done(&walk);
	return r < 0 ? r : hb_changes_rewind(changes, err);
}

int screen_changes(const struct hb_session_info *info,
		   struct hb_changes *changes, bool all, struct doc *doc,
		   struct hb_error *err)
{
	struct list l = { .info = info,
			  .doc = doc,
			  .all = all,
			  .gone = BUF_INIT(PATH_TREE_MAX),
			  .line = BUF_INIT(TEXT_MAX) };
	int r;

	r = pass(&l, changes, true, err);
	if (r >= 0)
		r = pass(&l, changes, false, err);
	end_gone(&l);
	for (size_t i = 0; i < l.n_rows; i++) {
		(void)buf_add_str(&doc->out, buf_str(&l.rows[i].text));
		buf_done(&l.rows[i].text);
	}
	if (l.n_left > 0)
		(void)buf_add_fmt(&doc->out,
				  "  … and %llu more; -v shows all\n",
				  (unsigned long long)l.n_left);
	buf_done(&l.gone);
	buf_done(&l.line);
	return r < 0 ? r : doc_flow(doc, err);
}

int screen_gate(struct hb_session *session, struct hb_changes *changes,
		struct doc *doc, struct hb_error *err)
{
	const struct hb_gate_options options = { 0 };
	struct hb_gate_result result = { 0 };
	struct hb_error why = { 0 };
	int r;

	r = hb_session_gate(session, changes, &options, &result, &why);
	/* Commit will say so; all else is worth being seen. */
	if (r == -HB_E_CONFIG) {
		if (!doc->is_json)
			(void)buf_add_fmt(&doc->out, "gate: %s\n", why.text);
		return 0;
	}
	if (r < 0)
		return hb_pass(err, &why, r);
	if (doc->is_json) {
		findings_count_json(&result, doc);
		return 0;
	}
	if (result.n_asked + result.n_denied + result.n_warnings == 0)
		return 0;
	(void)buf_add_fmt(&doc->out, "%sgate:%s %llu need%s approval",
			  colour_begin(doc->has_colour, COLOUR_WARNING),
			  colour_end(doc->has_colour, COLOUR_WARNING),
			  (unsigned long long)result.n_asked,
			  result.n_asked == 1 ? "s" : "");
	if (result.n_denied > 0)
		(void)buf_add_fmt(&doc->out, ", %llu denied",
				  (unsigned long long)result.n_denied);
	if (result.n_warnings > 0)
		(void)buf_add_fmt(&doc->out, ", %llu warning%s",
				  (unsigned long long)result.n_warnings,
				  result.n_warnings == 1 ? "" : "s");
	return buf_add_str(&doc->out, "; holdback gate has the list\n");
}

static int show_past(void *ctx, const struct hb_past *past,
		     struct hb_error *err)
{
	struct doc *doc = ctx;

	if (doc->is_json) {
		json_object(&doc->json);
		doc_uint(doc, "id", past->id);
		json_key(&doc->json, "time");
		json_int(&doc->json, past->time);
		doc_bool(doc, "rollback", past->is_rollback);
		doc_uint(doc, "operations", past->n_operations);
		doc_uint(doc, "undo_bytes", past->undo_bytes);
		json_end(&doc->json);
		return doc_flow(doc, err);
	}
	(void)buf_add_str(&doc->out,
			  past->is_rollback ? "rolled back " : "committed ");
	(void)show_seconds(past->time, &doc->out);
	(void)buf_add_str(&doc->out, " · undo ");
	(void)show_size(past->undo_bytes, &doc->out);
	(void)buf_add_char(&doc->out, '\n');
	return doc_flow(doc, err);
}

int screen_past(struct hb_session *session, struct doc *doc,
		struct hb_error *err)
{
	int r;

	if (doc->is_json) {
		json_key(&doc->json, "past");
		json_array(&doc->json);
	}
	r = hb_session_past(session, PAST_MAX, show_past, doc, err);
	if (doc->is_json)
		json_end(&doc->json);
	return r;
}
