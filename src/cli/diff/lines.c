/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/lines.h"

#include "cli/diff/git2.h"
#include "cli/diff/paint.h"
#include "cli/diff/sides.h"

#include <git2.h>
#include <stdio.h>
#include <string.h>

#define NO_NEWLINE "\\ No newline at end of file"

struct comparison {
	struct paint *paint;		 /* may be NULL */
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

static int take_hunk(const git_diff_delta *delta, const git_diff_hunk *hunk,
		     void *ctx)
{
	struct comparison *c = ctx;

	tell_names(delta, c);
	if (c->paint)
		paint_hunk(c->paint, hunk->header, hunk->header_len);
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

/* A text that has nothing on the other side is all one part. */
static int paint_one(const struct side *side, uint64_t n, bool is_new,
		     struct comparison *c)
{
	const char *at = side->bytes, *end = at + side->size;
	char range[32], head[64];

	if (n == 0 || !c->paint)
		return 0;
	if (n == 1)
		(void)snprintf(range, sizeof(range), "1");
	else
		(void)snprintf(range, sizeof(range), "1,%llu",
			       (unsigned long long)n);
	if (is_new)
		(void)snprintf(head, sizeof(head), "@@ -0,0 +%s @@", range);
	else
		(void)snprintf(head, sizeof(head), "@@ -%s +0,0 @@", range);
	paint_hunk(c->paint, head, strlen(head));
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end;

		paint_content(c->paint, is_new ? PAINT_NEW : PAINT_OLD,
			      is_new ? '+' : '-', at, (size_t)(next - at));
		if (flow(c) < 0)
			return c->error;
		at = next;
	}
	if (end[-1] != '\n')
		paint_words(c->paint, PAINT_PLAIN, NO_NEWLINE);
	return 0;
}

int lines_compare(const struct sides *s, struct paint *paint,
		  const struct lines_names *names, struct lines *ret_lines,
		  struct hb_error *err)
{
	const struct side *old = &s->of[HB_SIDE_OLD];
	const struct side *new = &s->of[HB_SIDE_NEW];
	struct comparison c = { .paint = paint, .names = names, .err = err };
	int r;

	if (old->is_there && new->is_there) {
		r = compare_both(old, new, &c);
	} else if (new->is_there) {
		c.lines.plus = sides_count_lines(new);
		r = paint_one(new, c.lines.plus, true, &c);
	} else {
		c.lines.minus = sides_count_lines(old);
		r = paint_one(old, c.lines.minus, false, &c);
	}
	if (r < 0)
		return r;
	*ret_lines = c.lines;
	return 0;
}
