/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/tally.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "cli/diff/database_lines.h"
#include "cli/diff/lines.h"
#include "cli/diff/paint.h"
#include "cli/diff/sides.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX ((size_t)64 << 20)
#define LEAST_GRAPH    10
#define LEAST_NAME     10

void tally_init(struct tally *s, const struct hb_session_info *info,
		struct hb_changes *changes, bool with_times)
{
	*s = (struct tally){
		.info = info,
		.changes = changes,
		.with_times = with_times,
	};
}

void tally_done(struct tally *s)
{
	free(s->rows);
	*s = (struct tally){ 0 };
}

static int add_row(struct tally *s, struct tally_row row, struct hb_error *err)
{
	if (grow(s->rows, s->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot count lines");
	s->rows[s->n++] = row;
	return 0;
}

static uint32_t clamp(uint64_t n)
{
	return n < TALLY_NO_LINES ? (uint32_t)n : TALLY_NO_LINES - 1;
}

static bool has_content(const struct hb_change *c)
{
	return c->kind == 'A' || c->kind == 'D' || c->kind == 'T' ||
	       (c->differs & HB_DIFFERS_CONTENT);
}

static int count_change(struct sides *sides, const struct hb_change *change,
			struct tally_row *ret, struct hb_error *err)
{
	const struct side *old = &sides->of[HB_SIDE_OLD];
	const struct side *new = &sides->of[HB_SIDE_NEW];
	struct lines lines = { 0 };
	int r = 0;

	*ret = (struct tally_row){ TALLY_NO_LINES, TALLY_NO_LINES };
	if (change->is_git)
		return 0;
	r = sides_load(sides, change, has_content(change), err);
	if (r < 0 || (!old->is_there && !new->is_there))
		return r;
	if (has_content(change)) {
		if (!sides_are_text(sides))
			return 0;
		r = lines_compare(sides, NULL, NULL, &lines, err);
	}
	if (r >= 0)
		*ret = (struct tally_row){ clamp(lines.plus),
					   clamp(lines.minus) };
	return r;
}

/* A name as it is shown; of a renamed one both. */
static int name_of(const struct tally *s, const struct hb_change *change,
		   struct buf *out)
{
	if (change->from) {
		(void)show_path(s->info, change, change->from, out);
		(void)buf_add_str(out, " => ");
	}
	return show_path(s->info, change, change->path, out);
}

/* Characters, which is columns for most of them. */
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/*
 * An added or deleted directory is told by its entries, and by the last line.
 */
static bool is_mere_directory(const struct hb_change *c)
{
	return c->is_directory && !c->is_git &&
	       (c->kind == 'A' || c->kind == 'D');
}

static int measure_name(struct tally *s, const struct hb_change *change,
			struct hb_error *err)
{
	auto_buf struct buf name = BUF_INIT(NAME_BYTES_MAX);
	int r = name_of(s, change, &name);
	size_t width;

	if (r < 0)
		return hb_fail(err, r, "cannot name a file");
	width = width_of(buf_str(&name));
	if (width > s->name_width)
		s->name_width = width;
	return 0;
}

static int measure(struct tally *s, const struct hb_change *change,
		   struct tally_row row, struct hb_error *err)
{
	int r = 0;

	/* In a deep tree the names of directories are most of the bytes. */
	if (!is_mere_directory(change))
		r = measure_name(s, change, err);
	if (r < 0)
		return r;
	if (row.plus != TALLY_NO_LINES) {
		uint32_t both = clamp((uint64_t)row.plus + row.minus);

		s->lines.plus += row.plus;
		s->lines.minus += row.minus;
		if (both > s->most)
			s->most = both;
	}
	return add_row(s, row, err);
}

int tally_count(struct tally *s, struct hb_error *err)
{
	struct hb_change change;
	struct show_walk walk;
	struct tally_row row;
	struct sides sides;
	int r;

	sides_init(&sides, s->changes);
	show_walk_init(&walk, s->changes, s->with_times);
	while ((r = show_walk_next(&walk, &change, err)) == 1) {
		r = count_change(&sides, &change, &row, err);
		if (r >= 0)
			r = measure(s, &change, row, err);
		if (r < 0)
			break;
	}
	show_walk_done(&walk);
	sides_done(&sides);
	return r < 0 ? r : hb_changes_rewind(s->changes, err);
}

struct columns {
	size_t name, number, graph;
};

static struct columns divide(const struct tally *s, unsigned columns)
{
	struct columns c = { .number = 1 };
	size_t left;

	for (uint32_t n = s->most; n >= 10; n /= 10)
		c.number++;
	/* " NAME | NUMBER GRAPH" */
	left = columns > c.number + 5 ? columns - c.number - 5 : 0;
	if (left < LEAST_NAME + LEAST_GRAPH)
		left = LEAST_NAME + LEAST_GRAPH;
	c.name = s->name_width;
	if (c.name > left * 5 / 8)
		c.name = left * 5 / 8;
	c.graph = left - c.name;
	return c;
}

/* The end of a name that is too long says more than its beginning. */
static const char *cut_name(const char *name, size_t width, bool *ret_is_cut)
{
	size_t all = width_of(name);

	*ret_is_cut = all > width;
	if (!*ret_is_cut)
		return name;
	for (all -= width - 3; all > 0; all--)
		do
			name++;
		while (((unsigned char)*name & 0xc0) == 0x80);
	return name;
}

static size_t scale(uint32_t n, uint32_t most, size_t width)
{
	if (most <= width)
		return n;
	return n ? 1 + (size_t)((uint64_t)n * (width - 1) / most) : 0;
}

static void add_facts(const struct hb_change *c, struct buf *out)
{
	bool is_sized =
		c->old.type == HB_TYPE_FILE || c->new.type == HB_TYPE_FILE;

	if (c->is_git)
		(void)buf_add_str(out, "git");
	else if (is_sized)
		(void)buf_add_fmt(out, "Bin %llu -> %llu bytes",
				  (unsigned long long)c->old.size,
				  (unsigned long long)c->new.size);
	else
		(void)buf_add_str(out,
				  c->is_directory ? "directory" : "special");
}

static void add_graph(const struct tally *s, struct tally_row row,
		      const struct columns *c, struct paint *paint)
{
	char line[64];
	size_t plus = scale(row.plus, s->most, c->graph - 1);
	size_t minus = scale(row.minus, s->most, c->graph - 1);
	int n = snprintf(line, sizeof(line), "%*llu", (int)c->number,
			 (unsigned long long)row.plus + row.minus);

	paint_raw(paint, line, (size_t)n);
	if (plus + minus > 0)
		paint_raw(paint, " ", 1);
	paint_fill(paint, PAINT_NEW, '+', plus);
	paint_fill(paint, PAINT_OLD, '-', minus);
}

static int paint_row(const struct tally *s, const struct hb_change *change,
		     struct tally_row row, const struct columns *c,
		     struct paint *paint, struct hb_error *err)
{
	auto_buf struct buf name = BUF_INIT(NAME_BYTES_MAX);
	auto_buf struct buf line = BUF_INIT(NAME_BYTES_MAX);
	const char *shown;
	bool is_cut;

	(void)name_of(s, change, &name);
	shown = cut_name(buf_str(&name), c->name, &is_cut);
	(void)buf_add_fmt(&line, " %s%s", is_cut ? "..." : "", shown);
	if (!is_cut)
		(void)buf_add_fill(&line, ' ', c->name - width_of(shown));
	(void)buf_add_str(&line, " | ");
	if (row.plus == TALLY_NO_LINES)
		add_facts(change, &line);
	if (name.error || line.error)
		return hb_fail(err, name.error ? name.error : line.error,
			       "cannot name a file");
	paint_raw(paint, line.data, line.len);
	if (row.plus != TALLY_NO_LINES)
		add_graph(s, row, c, paint);
	paint_raw(paint, "\n", 1);
	return paint_flow(paint, err);
}

int tally_paint(struct tally *s, unsigned columns, struct paint *paint,
		struct hb_error *err)
{
	struct columns c = divide(s, columns);
	struct hb_change change;
	struct show_walk walk;
	size_t i = 0;
	int r;

	show_walk_init(&walk, s->changes, s->with_times);
	while ((r = show_walk_next(&walk, &change, err)) == 1 && i < s->n) {
		const struct tally_row *row = &s->rows[i++];

		if (is_mere_directory(&change))
			continue;
		r = paint_row(s, &change, *row, &c, paint, err);
		if (r < 0)
			break;
	}
	show_walk_done(&walk);
	return r < 0 ? r : 0;
}

/* Of text: what was counted is read once more. */
static int add_hunks(struct sides *sides, const struct hb_change *change,
		     struct doc *doc, struct hb_error *err)
{
	int r;

	if (!has_content(change))
		return 0;
	r = sides_load(sides, change, true, err);
	/* Another file may be there by now, which was not counted. */
	if (r < 0 || !sides_are_text(sides) ||
	    sides->of[HB_SIDE_OLD].error < 0 ||
	    sides->of[HB_SIDE_NEW].error < 0)
		return r;
	return lines_json(sides, doc, err);
}

int tally_json(struct tally *s, bool with_hunks, struct doc *doc,
	       struct hb_error *err)
{
	struct hb_change change;
	struct show_walk walk;
	struct sides sides;
	size_t i = 0;
	int r;

	json_key(&doc->json, "changes");
	json_array(&doc->json);
	sides_init(&sides, s->changes);
	show_walk_init(&walk, s->changes, s->with_times);
	while ((r = show_walk_next(&walk, &change, err)) == 1 && i < s->n) {
		const struct tally_row *row = &s->rows[i++];
		struct show_lines lines = { row->plus, row->minus };
		bool is_text = row->plus != TALLY_NO_LINES;

		json_object(&doc->json);
		show_change_members(s->info, &change, is_text ? &lines : NULL,
				    doc);
		r = with_hunks && is_text ? add_hunks(&sides, &change, doc, err)
		    : with_hunks ? database_members(s->changes, doc, err)
				 : 0;
		json_end(&doc->json);
		if (r >= 0)
			r = doc_flow(doc, err);
		if (r < 0)
			break;
	}
	show_walk_done(&walk);
	sides_done(&sides);
	json_end(&doc->json);
	return r < 0 ? r : 0;
}
