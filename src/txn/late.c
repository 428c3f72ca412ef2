/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/late.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "txn/apply.h"
#include "txn/tree.h"

#include <sys/stat.h>

/*
 * No operation touches what is in such a directory, and moving the directory
 * leaves their ctime as it is: one that is not before `since` is somebody's
 * edit.  A file with several names is the exception, for another of its names
 * may be part of the transaction; of that only an edit of its content is
 * found.  Of the directory itself nothing can be told, for it was moved.
 *
 * It is the last thing before the bases are synced, so it also finds what was
 * written through a descriptor while the other operations were made.
 *
 * race-steps.py meets every moment before it; t_race has recovery, and what has
 * to be let pass.
 */

struct look {
	const struct op *op;
	struct timespec since;
};

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec
				    : a.tv_nsec < b.tv_nsec;
}

static bool is_zero(struct timespec t)
{
	return t.tv_sec == 0 && t.tv_nsec == 0;
}

struct timespec late_since(const struct txn *txn)
{
	struct timespec first = { 0 };

	/* The earliest: clocks differ only between machines. */
	for (size_t i = 0; i < txn->n_resources; i++) {
		const struct timespec *t = &txn->resources[i].since;

		if (is_zero(*t))
			return *t;
		if (is_zero(first) || is_before(*t, first))
			first = *t;
	}
	return first;
}

static int fail_late(const struct op *op, const char *below,
		     struct hb_error *err)
{
	auto_buf struct buf path = BUF_INIT(QUOTE_SHOWN);
	char shown[QUOTE_SHOWN];

	/* As much of it as is shown. */
	(void)buf_add_fmt(&path, "%.*s%s%.*s", QUOTE_SHOWN / 2 - 2, op->path,
			  *below != '\0' ? "/" : "", QUOTE_SHOWN / 2 - 2,
			  below);
	return hb_fail(err, -HB_E_CONFLICT, "meanwhile changed: %s",
		       quote_shown(buf_str(&path), shown, sizeof(shown)));
}

static int look_at(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	const struct look *l = ctx;
	bool is_shared = !S_ISDIR(v->attr.mode) && v->attr.nlink > 1;

	if (v->when == TREE_LEAVE ||
	    is_before(is_shared ? v->attr.mtime : v->attr.ctime, l->since))
		return 0;
	return fail_late(l->op, v->path, err);
}

static int check_one(struct apply *a, const struct op *op,
		     struct timespec since, struct hb_error *err)
{
	struct look l = { .op = op, .since = since };
	struct place undo;
	struct object now;
	int r;

	site_undo(&a->sites[op->resource], op, &undo);
	r = place_read(&undo, &now, err);
	/* Left to somebody else, it is not there. */
	if (r < 0 || !op_is_old(op, &now))
		return r;
	/* What may not be listed was in doubt before it was planned. */
	return tree_walk(undo.dir, undo.name, TREE_LENIENT, look_at, &l, err);
}

int late_check(struct apply *a, struct hb_error *err)
{
	struct timespec since = journal_head(a->journal)->since;
	struct op op;
	int r;

	if (is_zero(since))
		return 0;
	journal_to_start(a->journal);
	while ((r = journal_next(a->journal, &op, err)) == 1) {
		if ((op.kind != OP_REPLACE && op.kind != OP_DELETE) ||
		    op.old.type != ENTRY_DIR || (op.flags & OP_UPPER))
			continue;
		r = check_one(a, &op, since, err);
		if (r < 0)
			return r;
	}
	return r;
}
