/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/late.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/time.h"
#include "tree/tree.h"
#include "txn/apply.h"

#include <errno.h>
#include <sys/stat.h>

/*
 * No operation touches the entries of such a directory, and moving the
 * directory leaves their ctime as it is.  So a ctime that is not before `since`
 * is an edit by another program.  A file with several names is the exception,
 * for another of its names may be part of the transaction.  Of that only an
 * edit of its content is found.  Of the directory itself nothing can be told,
 * for it was moved.
 *
 * It is the last thing before the bases are synced.  So it also finds writes
 * through a descriptor while the other operations were made.
 *
 * race-steps.py meets every moment before it; t_race has recovery, and the
 * changes that have to be let pass.
 */

struct look {
	const struct op *op;
	struct timespec since;
};

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
		if (is_zero(first) || time_is_before(*t, first))
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

static bool is_late(const struct sys_attr *a, struct timespec since)
{
	bool is_shared = !S_ISDIR(a->mode) && a->nlink > 1;

	return !time_is_before(is_shared ? a->mtime : a->ctime, since);
}

static int look_at(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	const struct look *l = ctx;

	if (v->when == TREE_LEAVE || !is_late(&v->attr, l->since))
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
	/* Left to another program, it is not there. */
	if (r < 0 || !op_is_old(op, &now))
		return r;
	/* What may not be listed was in doubt before it was planned. */
	return tree_walk(undo.dir, undo.name, TREE_LENIENT, look_at, &l, err);
}

/*
 * Not of a directory: to look into a closed one is to change it.  An entry that
 * another program made in it is found.
 */
static int look_inside(void *ctx, const struct tree_visit *v,
		       struct hb_error *err)
{
	const struct timespec *since = ctx;

	(void)err;
	return v->when == TREE_ENTER && !S_ISDIR(v->attr.mode) &&
			       is_late(&v->attr, *since)
		       ? -HB_E_CONFLICT
		       : 0;
}

/* What stands in for a directory that was removed is empty. */
static int has_entries(struct apply *a, const struct op *op,
		       struct hb_error *err)
{
	struct timespec always = { 0 };
	struct place at;
	struct object now;
	int r;

	r = site_source(&a->sites[op->resource], op, &at, err);
	if (r < 0)
		return r;
	r = place_read(&at, &now, err);
	if (r < 0 || now.type != ENTRY_DIR)
		return r;
	r = tree_walk(at.dir, at.name, TREE_OURS, look_inside, &always, err);
	return r == -HB_E_CONFLICT ? 1 : r;
}

static int was_written(struct apply *a, const struct op *op,
		       struct timespec filed, struct hb_error *err)
{
	struct timespec since = journal_head(a->journal)->since;
	struct place undo;
	struct sys_attr attr;
	struct object now;
	int r;

	if (!op_moves(op))
		return has_entries(a, op, err);
	site_undo(&a->sites[op->resource], op, &undo);
	r = undo.dir < 0 ? -ENOENT : sys_attr_at(undo.dir, undo.name, &attr);
	if (r < 0)
		return r == -ENOENT ? 0 : hb_fail(err, r, "cannot look");
	now = object_of_attr(&attr);
	if (!op_is_old_unchanged(op, &now))
		return 1;
	/* By then we had moved it, and a time that was set back shows. */
	if (op->old.type != ENTRY_DIR)
		return attr.nlink == 1 && is_late(&attr, filed);
	if (is_zero(since))
		since = filed;
	r = tree_walk(undo.dir, undo.name, TREE_OURS, look_inside, &since, err);
	return r == -HB_E_CONFLICT ? 1 : r;
}

int late_was_written(struct txn *txn, enum history which, uint64_t id,
		     struct hb_error *err)
{
	struct journal *journal = NULL;
	struct timespec filed;
	struct apply a = { 0 };
	struct op op;
	int r;

	r = history_stamp(txn->session, which, id, &filed, err);
	if (r == 0)
		r = history_open(txn->session, which, id, &journal, err);
	if (r < 0)
		return r;
	r = apply_init(&a, txn, journal, err);
	while (r == 0 && (r = journal_next(a.journal, &op, err)) == 1)
		r = op_is_in_base(&op) && !op_dresses(&op) &&
				    !op_is_written(&op) &&
				    op.old.type != ENTRY_NONE
			    ? was_written(&a, &op, filed, err)
			    : 0;
	apply_done(&a);
	return r;
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
		if (!op_is_in_base(&op) || !op_moves(&op) ||
		    op.old.type != ENTRY_DIR)
			continue;
		r = check_one(a, &op, since, err);
		if (r < 0)
			return r;
	}
	return r;
}
