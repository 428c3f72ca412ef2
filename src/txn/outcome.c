/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/outcome.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/report.h"
#include "changes/database.h"
#include "git/gitunit.h"
#include "sys/attr.h"
#include "tree/tree.h"
#include "txn/apply.h"
#include "txn/git_locks.h"
#include "txn/peek.h"
#include "txn/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The state in which a transaction has left the base, told path by path to the
 * session.  The session remembers it as seen.  A later difference from it is
 * another program's change.
 */

struct report {
	struct apply *a;
	txn_applied_fn applied;
	void *ctx;
	size_t resource;
	const char *top; /* path of the directory that is walked */
	bool back;
	struct seen told; /* is_made, is_dressed */
	struct buf path;
};

static int tell(struct report *rep, const char *path,
		const struct sys_attr *base, const struct sys_attr *layer,
		struct hb_error *err)
{
	struct seen seen = rep->told;

	seen.path = path;
	if (base) {
		seen.base_ino = base->ino;
		seen.base_ctime = base->ctime;
	}
	/*
	 * After an undo it is pending, not seen.  So it is where the changes
	 * come from layers below the upper, or a copy: what that has is newer.
	 */
	if (journal_head(rep->a->journal)->flags & JOURNAL_LIVE)
		seen.layer_ino = base && !rep->back ? SEEN_APART : 0;
	else if (layer && !rep->back &&
		 rep->a->txn->resources[rep->resource].n_layers <= 1) {
		seen.layer_ino = layer->ino;
		seen.layer_ctime = layer->ctime;
	}
	if (!rep->applied)
		return 0;
	return rep->applied(rep->ctx, rep->resource, &seen, err);
}

/*
 * A change that was accepted in spite of a conflict is in conflict again when
 * it is taken back.  That holds even where nothing in the base shows it any
 * more.
 */
static int tell_disputed(struct report *rep, const struct op *op,
			 struct hb_error *err)
{
	const struct seen seen = {
		.path = op->path,
		.base_ctime = journal_head(rep->a->journal)->since,
		.conflict = op->accepted,
	};

	if (!rep->applied)
		return 0;
	return rep->applied(rep->ctx, op->resource, &seen, err);
}

static int tell_inside(void *ctx, const struct tree_visit *v,
		       struct hb_error *err)
{
	struct report *rep = ctx;
	int r;

	if (v->when == TREE_LEAVE)
		return 0;
	buf_cut(&rep->path, 0);
	(void)buf_add_str(&rep->path, rep->top);
	(void)buf_add_char(&rep->path, '/');
	r = buf_add_str(&rep->path, v->path);
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	return tell(rep, buf_str(&rep->path), &v->attr, NULL, err);
}

static int find(const struct place *p, struct sys_attr *ret)
{
	return p->dir >= 0 ? sys_attr_at(p->dir, p->name, ret) : -ENOENT;
}

static int read_attr(void *ctx, const struct place *at, struct hb_error *err)
{
	(void)err;
	return find(at, ctx);
}

static bool is_in_upper(struct site *s, const struct op *op,
			struct sys_attr *ret)
{
	return peek_upper(s, op, read_attr, ret, NULL) >= 0;
}

/* Whether the directory must not be known, because it is not ours alone. */
static bool is_others_too(const struct report *rep, const struct op *op)
{
	const struct txn *txn = rep->a->txn;
	const struct conflict_rule rule = run_rule(txn, rep->resource);

	if (op->effect & OP_IN_NEW)
		return false;
	return (op->effect & OP_KEEP_TIME) ||
	       conflict_is_others_too(&rule, op->path, op->old.mtime);
}

/* Whether changes of then are still pending. */
static bool has_rest(const struct report *rep)
{
	return journal_head(rep->a->journal)->flags & JOURNAL_HAS_REST;
}

static int report_dir(struct report *rep, struct site *s, const struct op *op,
		      struct hb_error *err)
{
	struct sys_attr base, layer;
	auto_fd int b = site_open_dir(&s->base, op->path, NULL);
	auto_fd int l = site_open_dir(&s->upper, op->path, NULL);
	bool has_base = b >= 0 && sys_attr_at(b, "", &base) == 0;
	bool has_layer = l >= 0 && sys_attr_at(l, "", &layer) == 0;

	if (rep->back && op->accepted == CONFLICT_DIR)
		return tell_disputed(rep, op, err);
	/* Going back, what the commit told of the layer is wrong by now. */
	if (is_others_too(rep, op) ||
	    (op->accepted != CONFLICT_NONE && (rep->back || has_rest(rep))))
		return rep->back ? tell(rep, op->path, NULL, NULL, err) : 0;
	return tell(rep, op->path, has_base ? &base : NULL,
		    has_layer ? &layer : NULL, err);
}

/*
 * Taken back, it is as it was before.  If it is not, another program has
 * changed it, and the session has to find that.
 */
static bool is_as_before(const struct op *op, const struct place *p)
{
	struct object now;

	if (place_read(p, &now, NULL) < 0)
		return false;
	if (op->old.type == ENTRY_NONE)
		return now.type == ENTRY_NONE;
	return op_is_old_unchanged(op, &now) && now.mode == op->old.mode &&
	       now.uid == op->old.uid && now.gid == op->old.gid;
}

/* What was in the base, wherever it is now, for the sake of its other names. */
static int report_inode(struct report *rep, struct site *s, const struct op *op,
			struct hb_error *err)
{
	struct place at = { .dir = -1 };
	char path[SEEN_INODE_SIZE];
	struct sys_attr a;
	int r = 0;

	if (!(op->effect & OP_LINKED))
		return 0;
	if (rep->back)
		r = site_base(s, op, &at, err);
	else
		site_undo(s, op, &at);
	if (r < 0 || find(&at, &a) < 0 || !is_as_before(op, &at))
		return r;
	(void)snprintf(path, sizeof(path), SEEN_INODE "%llu",
		       (unsigned long long)a.ino);
	return tell(rep, path, &a, NULL, err);
}

/*
 * What we may not look at now, in a directory that is closed to its owner, a
 * later look cannot compare either.
 */
static int untold(int r, const struct hb_error *why, struct hb_error *err)
{
	if (r == -EACCES)
		return 0;
	if (err)
		*err = *why;
	return r;
}

/* Content decided, so its files are as this transaction left them. */
static int report_database(struct report *rep, const struct op *op,
			   const struct place *at, struct hb_error *err)
{
	const struct hb_report changed = { .kind = HB_REPORT_CHANGED,
					   .resource = op->resource,
					   .path = op->path };
	int r = 0;

	(void)report_send(rep->a->txn->listener, &changed);
	for (int part = DATABASE_MAIN; r == 0 && part < DATABASE_INDEX;
	     part++) {
		auto_free char *path = NULL, *name = NULL;
		struct sys_attr a;

		if (asprintf(&path, "%s%s", op->path, database_endings[part]) <
		    0)
			path = NULL;
		if (asprintf(&name, "%s%s", at->name, database_endings[part]) <
		    0)
			name = NULL;
		if (!path || !name)
			return hb_fail(err, -ENOMEM, "cannot keep a path");
		if (at->dir >= 0 && sys_attr_at(at->dir, name, &a) == 0)
			r = tell(rep, path, &a, NULL, err);
	}
	return r;
}

static int report_one(struct report *rep, const struct op *op,
		      struct hb_error *err)
{
	struct site *s = &rep->a->sites[op->resource];
	const struct hb_report changed = { .kind = HB_REPORT_CHANGED,
					   .resource = op->resource,
					   .path = op->path };
	struct sys_attr base, layer;
	struct hb_error why = { 0 };
	struct place at_base = { .dir = -1 };
	bool has_base, has_layer;
	int found, r;

	if (!op_is_in_base(op))
		return 0;
	rep->resource = op->resource;
	rep->told.is_dressed = op_dresses(op);
	rep->told.is_made = !rep->back && op->old.type != ENTRY_DIR;
	/*
	 * A new directory is taken back: the object that it replaced was told.
	 */
	if (op_dresses(op))
		return rep->back && (op->effect & OP_IN_NEW)
			       ? 0
			       : report_dir(rep, s, op, err);
	r = site_base(s, op, &at_base, &why);
	if (r < 0)
		return untold(r, &why, err);
	if (rep->back && op->accepted != CONFLICT_NONE)
		return tell_disputed(rep, op, err);
	if (op_is_written(op))
		return report_database(rep, op, &at_base, err);
	if (rep->back && !is_as_before(op, &at_base))
		return 0;
	found = find(&at_base, &base);
	/* That cannot be told: the directory is closed to its owner. */
	if (found == -EACCES)
		return 0;
	has_base = found == 0;
	/* A packed-refs that stays has values that are pending: keeps_layer. */
	has_layer =
		!git_is_packed_path(git_root(s->resource->is_git), op->path) &&
		is_in_upper(s, op, &layer);
	(void)report_send(rep->a->txn->listener, &changed);
	r = tell(rep, op->path, has_base ? &base : NULL,
		 has_layer ? &layer : NULL, err);
	if (r == 0)
		r = report_inode(rep, s, op, err);
	if (r < 0 || rep->back || op->source != SOURCE_LAYER ||
	    op->new.type != ENTRY_DIR || !has_base || !rep->applied)
		return r;
	rep->top = op->path;
	r = tree_walk(at_base.dir, at_base.name, 0, tell_inside, rep, &why);
	return r < 0 ? untold(r, &why, err) : r;
}

int outcome_report(struct apply *a, bool back, txn_applied_fn applied,
		   void *applied_ctx, struct hb_error *err)
{
	struct report rep = { .a = a,
			      .applied = applied,
			      .ctx = applied_ctx,
			      .back = back,
			      .path = BUF_INIT(JOURNAL_RECORD_MAX) };
	struct op op;
	int r;

	for (size_t i = 0; i < a->txn->n_resources; i++)
		site_forget(&a->sites[i]);
	/* Before the times are told: it changes those of directories. */
	r = git_locks_drop(a, err);
	if (r < 0)
		return r;
	journal_to_start(a->journal);
	while ((r = journal_next(a->journal, &op, err)) == 1) {
		r = report_one(&rep, &op, err);
		if (r < 0)
			break;
	}
	buf_done(&rep.path);
	if (r == 0 && applied)
		r = applied(applied_ctx, 0, NULL, err);
	return r;
}
