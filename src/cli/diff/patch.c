/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/patch.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "cli/diff/binary.h"
#include "cli/diff/database_lines.h"
#include "cli/diff/lines.h"
#include "cli/diff/paint.h"
#include "cli/diff/remarks.h"
#include "cli/show/show.h"

#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES ((size_t)64 << 20)
#define SHORT_NAME     7 /* digits of a git name where it only informs */
#define NO_NAME	       "0000000000000000000000000000000000000000"

void patch_init(struct patch *p, struct paint *paint,
		const struct hb_session_info *info, struct hb_changes *changes,
		bool is_exact)
{
	*p = (struct patch){
		.paint = paint,
		.info = info,
		.is_exact = is_exact,
	};
	sides_init(&p->sides, changes);
	buf_init(&p->last, NAME_MAX_BYTES);
}

void patch_done(struct patch *p)
{
	sides_done(&p->sides);
	buf_done(&p->last);
}

/*
 * A name as git writes it: behind `before`, in quotes if need be.  Of several
 * resources the name is the path from the root of the host, but in the project.
 */
static void add_name(const struct patch *p, const struct hb_change *change,
		     const char *before, const char *path, struct buf *out)
{
	const char *root =
		p->info ? show_root(p->info, change->resource) : NULL;
	auto_buf struct buf whole = BUF_INIT(NAME_MAX_BYTES);

	(void)buf_add_str(&whole, before);
	if (root) {
		(void)buf_add_str(&whole, root + (root[0] == '/'));
		(void)buf_add_char(&whole, '/');
	}
	(void)buf_add_str(&whole, path);
	if (whole.error)
		(void)buf_fail(out, whole.error);
	else
		(void)quote_name(whole.data, whole.len, out);
}

static const char *old_path(const struct hb_change *change)
{
	return change->from ? change->from : change->path;
}

/* "a/PATH", or /dev/null for a side that is not there. */
static void add_side(const struct patch *p, const struct hb_change *change,
		     enum hb_side side, struct buf *out)
{
	if (!p->sides.of[side].is_there)
		(void)buf_add_str(out, "/dev/null");
	else if (side == HB_SIDE_OLD)
		add_name(p, change, "a/", old_path(change), out);
	else
		add_name(p, change, "b/", change->path, out);
}

static int paint_first_line(struct patch *p, const struct hb_change *change,
			    struct hb_error *err)
{
	auto_buf struct buf line = BUF_INIT(NAME_MAX_BYTES);

	add_name(p, change, "a/", old_path(change), &line);
	(void)buf_add_char(&line, ' ');
	add_name(p, change, "b/", change->path, &line);
	if (line.error)
		return hb_fail(err, line.error, "cannot name a file");
	paint_words(p->paint, PAINT_META, "diff --git %s", buf_str(&line));
	return 0;
}

static int paint_rename(struct patch *p, const struct hb_change *change,
			struct hb_error *err)
{
	auto_buf struct buf from = BUF_INIT(NAME_MAX_BYTES);
	auto_buf struct buf to = BUF_INIT(NAME_MAX_BYTES);

	if (!change->from)
		return 0;
	add_name(p, change, "", change->from, &from);
	add_name(p, change, "", change->path, &to);
	if (from.error || to.error)
		return hb_fail(err, from.error ? from.error : to.error,
			       "cannot name a file");
	paint_words(p->paint, PAINT_META, "similarity index 100%%");
	paint_words(p->paint, PAINT_META, "rename from %s", buf_str(&from));
	paint_words(p->paint, PAINT_META, "rename to %s", buf_str(&to));
	return 0;
}

static const char *name_of(const struct patch *p, enum hb_side side,
			   const char *found)
{
	if (!p->names)
		return found;
	return p->sides.of[side].is_there ? p->names[side] : NO_NAME;
}

static void paint_names(void *ctx, const char *old_name, const char *new_name)
{
	const struct patch *p = ctx;
	const struct side *old = &p->sides.of[HB_SIDE_OLD];
	const struct side *new = &p->sides.of[HB_SIDE_NEW];
	int digits = p->is_exact ? SHA1_HEX_SIZE - 1 : SHORT_NAME;
	char mode[16] = "";

	if (old->is_there && new->is_there && old->mode == new->mode)
		(void)snprintf(mode, sizeof(mode), " %06o", new->mode);
	paint_words(p->paint, PAINT_META, "index %.*s..%.*s%s", digits,
		    name_of(p, HB_SIDE_OLD, old_name), digits,
		    name_of(p, HB_SIDE_NEW, new_name), mode);
}

static int paint_index(struct patch *p, struct hb_error *err)
{
	char old[SHA1_HEX_SIZE], new[SHA1_HEX_SIZE];
	int r;

	if (p->names) {
		paint_names(p, NO_NAME, NO_NAME);
		return 0;
	}
	r = sides_git_name(&p->sides, HB_SIDE_OLD, old, err);
	if (r >= 0)
		r = sides_git_name(&p->sides, HB_SIDE_NEW, new, err);
	if (r < 0)
		return r;
	paint_names(p, old, new);
	return 0;
}

static int paint_head(struct patch *p, const struct hb_change *change,
		      bool has_index, struct hb_error *err)
{
	const struct side *old = &p->sides.of[HB_SIDE_OLD];
	const struct side *new = &p->sides.of[HB_SIDE_NEW];
	int r;

	r = paint_first_line(p, change, err);
	if (r < 0)
		return r;
	if (!old->is_there) {
		paint_words(p->paint, PAINT_META, "new file mode %06o",
			    new->mode);
	} else if (!new->is_there) {
		paint_words(p->paint, PAINT_META, "deleted file mode %06o",
			    old->mode);
	} else if (old->mode != new->mode) {
		paint_words(p->paint, PAINT_META, "old mode %06o", old->mode);
		paint_words(p->paint, PAINT_META, "new mode %06o", new->mode);
	}
	r = paint_rename(p, change, err);
	return r < 0 || !has_index ? r : paint_index(p, err);
}

/* A name that ends in a TAB is one with blanks in it: so git tells its end. */
static void end_name(struct buf *name)
{
	if (name->len > 0 && name->data[0] != '"' && strchr(name->data, ' '))
		(void)buf_add_char(name, '\t');
}

/* The two lines before the first part that differs. */
static void paint_ends(struct patch *p)
{
	auto_buf struct buf from = BUF_INIT(NAME_MAX_BYTES);
	auto_buf struct buf to = BUF_INIT(NAME_MAX_BYTES);

	add_side(p, p->change, HB_SIDE_OLD, &from);
	add_side(p, p->change, HB_SIDE_NEW, &to);
	end_name(&from);
	end_name(&to);
	if (from.error || to.error)
		(void)buf_fail(&p->paint->out,
			       from.error ? from.error : to.error);
	paint_words(p->paint, PAINT_META, "--- %s", buf_str(&from));
	paint_words(p->paint, PAINT_META, "+++ %s", buf_str(&to));
}

static void begin_text(void *ctx, const char *old_name, const char *new_name)
{
	paint_names(ctx, old_name, new_name);
	paint_ends(ctx);
}

/* Two texts: their names come with the comparison. */
static int paint_both(struct patch *p, const struct hb_change *change,
		      struct hb_error *err)
{
	const struct lines_names names = { begin_text, p };
	struct lines lines;
	int r = paint_head(p, change, false, err);

	p->change = change;
	return r < 0 ? r
		     : lines_compare(&p->sides, p->paint, &names, &lines, err);
}

static int paint_one(struct patch *p, const struct hb_change *change,
		     struct hb_error *err)
{
	struct lines lines;
	int r = paint_head(p, change, true, err);

	if (r < 0)
		return r;
	p->change = change;
	if ((p->sides.of[HB_SIDE_OLD].is_there &&
	     p->sides.of[HB_SIDE_OLD].size > 0) ||
	    (p->sides.of[HB_SIDE_NEW].is_there &&
	     p->sides.of[HB_SIDE_NEW].size > 0))
		paint_ends(p);
	return lines_compare(&p->sides, p->paint, NULL, &lines, err);
}

/* What is not shown as text and not asked for as bytes. */
static int paint_folded(struct patch *p, const struct hb_change *change,
			struct hb_error *err)
{
	auto_buf struct buf line = BUF_INIT(NAME_MAX_BYTES);
	int r;

	add_side(p, change, HB_SIDE_OLD, &line);
	(void)buf_add_str(&line, " and ");
	add_side(p, change, HB_SIDE_NEW, &line);
	if (line.error)
		return hb_fail(err, line.error, "cannot name a file");
	paint_words(p->paint, PAINT_PLAIN, "Binary files %s differ",
		    buf_str(&line));
	if (p->names)
		return 0;
	r = remark_folded(p, change, err);
	return r < 0 ? r : database_remarks(p, p->sides.changes, change, err);
}

static int find_error(const struct sides *s)
{
	for (int i = 0; i < 2; i++)
		if (s->of[i].is_there && s->of[i].error < 0)
			return s->of[i].error;
	return 0;
}

/* One file of a patch: the sides as they are set. */
static int paint_file(struct patch *p, const struct hb_change *change,
		      bool has_content, struct hb_error *err)
{
	int unread = has_content ? find_error(&p->sides) : 0;
	bool is_text = has_content && sides_are_text(&p->sides);
	bool is_shown = !has_content || p->is_exact;
	bool has_index;
	int r;

	if (unread < 0 && p->is_exact) {
		hb_fix(err, "holdback diff without --binary");
		return hb_fail_at(err, unread, change->path, "cannot read");
	}
	if (is_text && unread == 0)
		return sides_are_both(&p->sides) ? paint_both(p, change, err)
						 : paint_one(p, change, err);
	has_index = has_content &&
		    (p->names || (unread == 0 &&
				  (p->is_exact || sides_are_whole(&p->sides))));
	r = paint_head(p, change, has_index, err);
	if (r < 0 || !has_content)
		return r;
	if (!is_shown || unread < 0)
		return paint_folded(p, change, err);
	return binary_patch(&p->sides, p->paint, err);
}

/* git has no other types in one place: the old one goes, a new one comes. */
static int paint_exchange(struct patch *p, const struct hb_change *change,
			  struct hb_error *err)
{
	bool *old = &p->sides.of[HB_SIDE_OLD].is_there;
	bool *new = &p->sides.of[HB_SIDE_NEW].is_there;
	int r;

	*new = false;
	r = paint_file(p, change, true, err);
	if (r < 0)
		return r;
	*new = true;
	*old = false;
	return paint_file(p, change, true, err);
}

/* git applies nothing at such a path, and then nothing at all. */
static bool is_in_repository(const char *path)
{
	struct path_part part;

	while (path_next(&path, &part))
		if (part.n == 4 && strncasecmp(part.s, ".git", 4) == 0)
			return true;
	return false;
}

/*
 * A rename of which one end cannot be said is told by the other alone: as what
 * is new, or as what is gone.
 */
static struct hb_change part(const struct patch *p,
			     const struct hb_change *change)
{
	struct hb_change c = *change;
	bool is_from_in = c.from && is_in_repository(c.from);
	bool is_to_in = is_in_repository(c.path);

	if (!p->is_exact || !c.from || is_from_in == is_to_in)
		return c;
	if (is_from_in) {
		c.kind = 'A';
		c.old = (struct hb_object){ 0 };
	} else {
		c.kind = 'D';
		c.path = c.from;
		c.new = (struct hb_object){ 0 };
	}
	c.from = NULL;
	return c;
}

static int settle_directory(struct patch *p, const char *next,
			    struct hb_error *err)
{
	size_t n = p->last.len;

	if (!p->last_kind)
		return 0;
	if (p->last.error)
		return hb_fail(err, p->last.error, "cannot name a directory");
	if (!next || strncmp(next, buf_str(&p->last), n) != 0 || next[n] != '/')
		remark_directory(p);
	p->last_kind = 0;
	return 0;
}

static void note_directory(struct patch *p, const struct hb_change *change)
{
	bool was = change->old.type == HB_TYPE_DIR;
	bool is = change->new.type == HB_TYPE_DIR;

	if (was == is || change->is_git)
		return;
	p->last_kind = is ? 'A' : 'D';
	p->last_resource = change->resource;
	buf_cut(&p->last, 0);
	(void)buf_add_str(&p->last, change->path);
}

static int paint_change(struct patch *p, const struct hb_change *change,
			struct hb_error *err)
{
	const struct side *old = &p->sides.of[HB_SIDE_OLD];
	const struct side *new = &p->sides.of[HB_SIDE_NEW];
	bool is_left_out = p->is_exact && is_in_repository(change->path);
	bool has_content;
	int r;

	remark_change(p, change, is_left_out);
	if (change->is_git || is_left_out)
		return 0;
	note_directory(p, change);
	has_content = change->kind == 'A' || change->kind == 'D' ||
		      change->kind == 'T' ||
		      (change->differs & HB_DIFFERS_CONTENT);
	r = sides_load(&p->sides, change, has_content, err);
	if (r < 0)
		return r;
	if (old->is_there && new->is_there && old->is_link != new->is_link)
		return paint_exchange(p, change, err);
	if (!old->is_there && !new->is_there)
		return 0;
	if (!has_content && !change->from && old->mode == new->mode)
		return 0;
	return paint_file(p, change, has_content, err);
}

int patch_change(struct patch *p, const struct hb_change *change,
		 struct hb_error *err)
{
	struct hb_change said = part(p, change);
	int r = settle_directory(p, change->path, err);

	return r < 0 ? r : paint_change(p, &said, err);
}

#define TYPE_BITS 0170000U

int patch_file(struct patch *p, const char *path, const char *const names[2],
	       struct hb_error *err)
{
	const struct hb_change change = { .path = path };
	const struct side *old = &p->sides.of[HB_SIDE_OLD];
	const struct side *new = &p->sides.of[HB_SIDE_NEW];

	p->names = names;
	if (sides_are_both(&p->sides) &&
	    (old->mode & TYPE_BITS) != (new->mode &TYPE_BITS))
		return paint_exchange(p, &change, err);
	return paint_file(p, &change, strcmp(names[0], names[1]) != 0, err);
}

int patch_end(struct patch *p, struct hb_error *err)
{
	return settle_directory(p, NULL, err);
}
