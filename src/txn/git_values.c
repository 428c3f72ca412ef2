/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/git_values.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "changes/git/delivered.h"
#include "git/gitrefs.h"
#include "git/kept/kept_refs.h"
#include "txn/apply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * "ref UNIT" or "new UNIT", the value before, the value after and the path,
 * each on a line. UNIT is how much of the path is the git directory.  A path
 * may have newlines, and a value has none.
 */
#define RECORD "ref "
/* Of a reference that had no file before: undo takes its file away. */
#define ADDED "new "

struct ref_record {
	size_t unit;
	size_t then_len, next_len;
	const char *then, *next; /* not terminated */
	const char *path;
	bool is_added;
};

/* What a repository has now; many records are about one. */
struct looked_at {
	char *unit; /* NULL: none yet */
	struct kept_refs refs;
	struct gitrefs packed;
};

static void looked_at_done(struct looked_at *l)
{
	free(l->unit);
	kept_refs_done(&l->refs);
	gitrefs_done(&l->packed);
	*l = (struct looked_at){ 0 };
}

int git_values_add(struct buf *list, const struct delivered_item *item)
{
	if (!item->then || !item->next)
		return 0;
	(void)buf_add_fmt(list, "%s%zu\n%s\n%s\n%s",
			  item->how == DELIVERED_MADE && item->has_old &&
					  item->old.type == ENTRY_NONE
				  ? ADDED
				  : RECORD,
			  item->unit, item->then, item->next, item->path);
	return buf_add(list, "", 1);
}

static const char *take_line(const char **at, size_t *ret_len)
{
	const char *line = *at;

	*ret_len = strcspn(line, "\n");
	*at += *ret_len + (line[*ret_len] == '\n');
	return line;
}

/* false: the record is about something else, as a lock. */
static bool parse(const char *text, struct ref_record *ret)
{
	unsigned long long unit;
	char *end = NULL;
	size_t ignored;

	ret->is_added = strncmp(text, ADDED, strlen(ADDED)) == 0;
	if (!ret->is_added && strncmp(text, RECORD, strlen(RECORD)) != 0)
		return false;
	unit = strtoull(text + strlen(RECORD), &end, 10);
	if (*end != '\n')
		return false;
	(void)take_line(&text, &ignored);
	ret->then = take_line(&text, &ret->then_len);
	ret->next = take_line(&text, &ret->next_len);
	ret->path = text;
	ret->unit = (size_t)unit;
	return unit < strlen(text) && (unit == 0 || text[unit] == '/');
}

static int look(const struct site *s, const struct ref_record *rec,
		struct looked_at *l)
{
	int r;

	if (l->unit && strlen(l->unit) == rec->unit &&
	    memcmp(l->unit, rec->path, rec->unit) == 0)
		return 0;
	looked_at_done(l);
	l->unit = strndup(rec->path, rec->unit);
	if (!l->unit)
		return -ENOMEM;
	r = kept_refs_look(s->resource->base, l->unit, &l->refs);
	if (r >= 0)
		r = gitrefs_add_packed_file(&l->packed, s->resource->base,
					    l->unit);
	gitrefs_sort(&l->packed);
	return r;
}

static bool is_value(const char *value, const char *expected, size_t len)
{
	return strlen(value) == len && memcmp(value, expected, len) == 0;
}

static bool fits(const struct ref_record *rec, const struct kept_refs *now,
		 unsigned how)
{
	const char *found =
		kept_refs_value(now, rec->path + rec->unit + (rec->unit > 0));
	bool is_any = !(how & APPLY_FIRST), back = how & APPLY_BACK;

	found = found ? found : "";
	return ((is_any || !back) &&
		is_value(found, rec->then, rec->then_len)) ||
	       ((is_any || back) && is_value(found, rec->next, rec->next_len));
}

/* Whether undo, which takes the file away, brings the value of before back. */
static bool is_uncovered(const struct ref_record *rec,
			 const struct looked_at *l, unsigned how)
{
	const struct gitref *line;

	if (!rec->is_added || !(how & APPLY_BACK) || !(how & APPLY_FIRST))
		return true;
	line = gitrefs_find(&l->packed,
			    rec->path + rec->unit + (rec->unit > 0));
	return is_value(line ? line->id.hex : "", rec->then, rec->then_len);
}

static int check_one(const struct site *s, const struct ref_record *rec,
		     unsigned how, struct looked_at *l, struct hb_error *err)
{
	int r = look(s, rec, l);

	if (r < 0 && r != -ENOTSUP)
		return hb_fail_at(err, r, rec->path, "cannot look at");
	if (r == 0 && fits(rec, &l->refs, how) && !is_uncovered(rec, l, how)) {
		hb_fix(err, "git update-ref puts it back by hand");
		return hb_fail(err, -HB_E_CONFLICT,
			       "git has packed %s meanwhile, which undo would "
			       "leave as it is: nothing was changed",
			       quoted(rec->path));
	}
	if (r == 0 && fits(rec, &l->refs, how))
		return 0;
	hb_fix(err, "look at the repository and repeat the command");
	return hb_fail(err, -HB_E_CONFLICT,
		       how & APPLY_FIRST
			       ? "git has moved %s meanwhile: nothing was "
				 "changed"
			       : "git has moved %s meanwhile",
		       quoted(rec->path));
}

int git_values_check(const struct site *s, const struct buf *list, unsigned how,
		     struct hb_error *err)
{
	struct looked_at l = { 0 };
	struct ref_record rec;
	int r = 0;

	for (size_t at = 0; r == 0 && at < list->len;
	     at += strlen(list->data + at) + 1)
		if (parse(list->data + at, &rec))
			r = check_one(s, &rec, how, &l, err);
	looked_at_done(&l);
	return r;
}

int git_values_before(const struct buf *list, git_values_fn fn, void *ctx)
{
	struct ref_record rec;
	int r = 0;

	for (size_t at = 0; r >= 0 && at < list->len;
	     at += strlen(list->data + at) + 1) {
		auto_free char *then = NULL;

		if (!parse(list->data + at, &rec))
			continue;
		then = strndup(rec.then, rec.then_len);
		r = then ? fn(ctx, rec.path, then) : -ENOMEM;
	}
	return r;
}
