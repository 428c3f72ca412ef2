/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/lines.h"

#include "base/error.h"
#include "cli/diff/git2.h"
#include "cli/diff/paint.h"
#include "cli/diff/sides.h"
#include "cli/show/doc.h"

#include <git2.h>
#include <stdio.h>
#include <string.h>

#define NO_NEWLINE "\\ No newline at end of file"

struct comparison {
	struct paint *paint;		 /* may be NULL */
	struct doc *doc;		 /* the same; an array is open */
	bool is_in_hunk;		 /* `doc`: and so is a part of it */
	const struct lines_names *names; /* may be NULL */
	struct lines lines;
	int error; /* of what the callbacks do */
	struct hb_error *err;
};

static int flow(struct comparison *c)
{
	c->error = paint_flow(c->paint, c->err);
	return c->error;
}

static void tell_names(const git_diff_delta *delta, struct comparison *c)
{
	char old[SHA1_HEX_SIZE], new[SHA1_HEX_SIZE];

	if (!c->names)
		return;
	(void)git_oid_tostr(old, sizeof(old), &delta->old_file.id);
	(void)git_oid_tostr(new, sizeof(new), &delta->new_file.id);
	c->names->tell(c->names->ctx, old, new);
	c->names = NULL;
}

static void end_hunk(struct comparison *c)
{
	if (c->is_in_hunk) {
		json_end(&c->doc->json);
		json_end(&c->doc->json);
	}
	c->is_in_hunk = false;
}

static void begin_hunk(struct comparison *c, uint64_t old_start,
		       uint64_t old_lines, uint64_t new_start,
		       uint64_t new_lines)
{
	end_hunk(c);
	json_object(&c->doc->json);
	doc_uint(c->doc, "old_start", old_start);
	doc_uint(c->doc, "old_lines", old_lines);
	doc_uint(c->doc, "new_start", new_start);
	doc_uint(c->doc, "new_lines", new_lines);
	json_key(&c->doc->json, "lines");
	json_array(&c->doc->json);
	c->is_in_hunk = true;
}

/* A line, with or without its end, behind its sign. */
static int add_line(struct comparison *c, char sign, const char *bytes,
		    size_t n)
{
	auto_buf struct buf line = BUF_INIT(n + 2);

	(void)buf_add_char(&line, sign);
	(void)buf_add(&line, bytes, n - (n > 0 && bytes[n - 1] == '\n'));
	if (line.error)
		return c->error = hb_fail(c->err, line.error,
					  "cannot keep a line");
	json_bytes(&c->doc->json, line.data, line.len);
	return c->error = doc_flow(c->doc, c->err);
}

static int take_hunk(const git_diff_delta *delta, const git_diff_hunk *hunk,
		     void *ctx)
{
	struct comparison *c = ctx;

	tell_names(delta, c);
	if (c->paint)
		paint_hunk(c->paint, hunk->header, hunk->header_len);
	if (c->doc)
		begin_hunk(c, (uint64_t)hunk->old_start,
			   (uint64_t)hunk->old_lines, (uint64_t)hunk->new_start,
			   (uint64_t)hunk->new_lines);
	return 0;
}

static int take_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		     const git_diff_line *line, void *ctx)
{
	struct comparison *c = ctx;
	enum paint_kind kind = PAINT_PLAIN;

	(void)delta;
	(void)hunk;
	if (line->origin == GIT_DIFF_LINE_ADDITION) {
		c->lines.plus++;
		kind = PAINT_NEW;
	} else if (line->origin == GIT_DIFF_LINE_DELETION) {
		c->lines.minus++;
		kind = PAINT_OLD;
	}
	if (c->doc &&
	    (kind != PAINT_PLAIN || line->origin == GIT_DIFF_LINE_CONTEXT))
		return add_line(c, line->origin, line->content,
				line->content_len);
	if (c->doc)
		return add_line(c, NO_NEWLINE[0], &NO_NEWLINE[1],
				strlen(NO_NEWLINE) - 1);
	if (!c->paint)
		return 0;
	if (kind != PAINT_PLAIN || line->origin == GIT_DIFF_LINE_CONTEXT)
		paint_content(c->paint, kind, line->origin, line->content,
			      line->content_len);
	else
		paint_words(c->paint, PAINT_PLAIN, NO_NEWLINE);
	return flow(c);
}

static int compare_both(const struct side *old, const struct side *new,
			struct comparison *c)
{
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	int r;

	options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC;
	r = git_diff_buffers(old->bytes, (size_t)old->size, NULL, new->bytes,
			     (size_t) new->size, NULL, &options, NULL, NULL,
			     take_hunk, take_line, c);
	if (c->error < 0)
		return c->error;
	return r < 0 ? git2_fail(r, "cannot compare two texts", c->err) : 0;
}

static int add_one(struct comparison *c, bool is_new, const char *bytes,
		   size_t n)
{
	char sign = is_new ? '+' : '-';

	if (c->doc)
		return add_line(c, sign, bytes, n);
	paint_content(c->paint, is_new ? PAINT_NEW : PAINT_OLD, sign, bytes, n);
	return flow(c);
}

/* A text that has nothing on the other side is all one part. */
static int paint_one(const struct side *side, uint64_t n, bool is_new,
		     struct comparison *c)
{
	const char *at = side->bytes, *end = at + side->size;
	char range[32], head[64];

	if (n == 0 || (!c->paint && !c->doc))
		return 0;
	if (c->doc)
		begin_hunk(c, !is_new, is_new ? 0 : n, is_new, is_new ? n : 0);
	if (n == 1)
		(void)snprintf(range, sizeof(range), "1");
	else
		(void)snprintf(range, sizeof(range), "1,%llu",
			       (unsigned long long)n);
	if (is_new)
		(void)snprintf(head, sizeof(head), "@@ -0,0 +%s @@", range);
	else
		(void)snprintf(head, sizeof(head), "@@ -%s +0,0 @@", range);
	if (c->paint)
		paint_hunk(c->paint, head, strlen(head));
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end;

		if (add_one(c, is_new, at, (size_t)(next - at)) < 0)
			return c->error;
		at = next;
	}
	if (end[-1] == '\n')
		return 0;
	if (c->doc)
		return add_line(c, NO_NEWLINE[0], &NO_NEWLINE[1],
				strlen(NO_NEWLINE) - 1);
	paint_words(c->paint, PAINT_PLAIN, NO_NEWLINE);
	return 0;
}

static int compare(const struct sides *s, struct comparison *c)
{
	const struct side *old = &s->of[HB_SIDE_OLD];
	const struct side *new = &s->of[HB_SIDE_NEW];

	if (old->is_there && new->is_there)
		return compare_both(old, new, c);
	if (new->is_there) {
		c->lines.plus = sides_count_lines(new);
		return paint_one(new, c->lines.plus, true, c);
	}
	c->lines.minus = sides_count_lines(old);
	return paint_one(old, c->lines.minus, false, c);
}

int lines_compare(const struct sides *s, struct paint *paint,
		  const struct lines_names *names, struct lines *ret_lines,
		  struct hb_error *err)
{
	struct comparison c = { .paint = paint, .names = names, .err = err };
	int r = compare(s, &c);

	if (r < 0)
		return r;
	*ret_lines = c.lines;
	return 0;
}

int lines_json(const struct sides *s, struct doc *doc, struct hb_error *err)
{
	struct comparison c = { .doc = doc, .err = err };
	int r;

	json_key(&doc->json, "hunks");
	json_array(&doc->json);
	r = compare(s, &c);
	end_hunk(&c);
	json_end(&doc->json);
	return r;
}
