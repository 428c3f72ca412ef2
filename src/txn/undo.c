/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/report.h"
#include "base/time.h"
#include "git/gitunit.h"
#include "sys/attr.h"
#include "tree/content.h"
#include "tree/tree.h"
#include "txn/apply.h"
#include "txn/contents.h"
#include "txn/databases.h"
#include "txn/dress.h"
#include "txn/git_reach.h"
#include "txn/held.h"
#include "txn/history.h"
#include "txn/journal.h"
#include "txn/late.h"
#include "txn/parents.h"
#include "txn/run.h"
#include "txn/txn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Undo and redo
 * -------------
 *
 * Both are a transaction that was filed, run once more in one direction or the
 * other.  Its operations are checked against the present objects, written as a
 * journal of their own, and run as those of a commit are.
 *
 * An object that would leave its place is a conflict if another program has
 * changed it since the transaction was filed.  That is in the base for undo, in
 * the layer for redo.
 *
 * Several transactions may have changed a path.  The layer has the newest
 * version once the last of them is undone, and keeps it.  An object that the
 * undo of an earlier one takes out of the base waits in txn/ID for a redo.
 */

struct reversal {
	struct apply apply;
	struct journal_writer *writer;
	struct timespec stamp;
	struct timespec undone; /* when the one after it was; zero: never */
	bool back;
	uint64_t n, n_kept;
	const char *path;	  /* of the operation that is checked */
	uint64_t contents;	  /* of its directory */
	const char *against;	  /* why that one cannot be done */
	struct hb_error conflict; /* the first one; code 0: there is none */
};

static bool is_since(const struct reversal *v, const struct sys_attr *a)
{
	return !time_is_before(a->ctime, v->stamp);
}

static int check_inside(void *ctx, const struct tree_visit *visit,
			struct hb_error *err)
{
	struct reversal *v = ctx;

	contents_add(&v->contents, visit);
	if (visit->when == TREE_ENTER && is_since(v, &visit->attr))
		return hb_fail_at(err, -HB_E_CONFLICT, v->path,
				  "changed since then:");
	return 0;
}

/* A new upper that is not empty has changes of its own. */
static int check_empty(void *ctx, const struct tree_visit *visit,
		       struct hb_error *err)
{
	(void)ctx;
	(void)visit;
	hb_fix(err, "commit or roll back the pending changes");
	return hb_fail(err, -HB_E_CONFLICT, "other changes are pending");
}

/* What will leave its place, with all that is in it. */
static int check_moved(struct reversal *v, struct op *op, struct hb_error *err)
{
	struct site *s = &v->apply.sites[op->resource];
	struct hb_error why = { 0 };
	struct sys_attr a;
	struct place p;
	int r;

	if (op->new.type == ENTRY_NONE || !op_moves(op))
		return 0;
	r = v->back ? site_base(s, op, &p, err) : site_source(s, op, &p, err);
	if (r < 0)
		return r;
	if (op->effect & OP_UPPER)
		return v->back ? tree_walk(p.dir, p.name, TREE_FLAT,
					   check_empty, NULL, err)
			       : 0;
	r = sys_attr_at(p.dir, p.name, &a);
	if (r == -EACCES)
		return r;
	if (r < 0 || is_since(v, &a))
		return hb_fail_at(err, -HB_E_CONFLICT, op->path,
				  "changed since then:");
	if (op->source != SOURCE_LAYER || op->new.type != ENTRY_DIR)
		return 0;
	v->path = op->path;
	v->contents = 0;
	op->new.entries = 0;
	r = tree_walk(p.dir, p.name, v->back ? 0 : TREE_OURS, check_inside, v,
		      &why);
	if (r == -EACCES)
		return 0;
	/* Later ones may have left something in it, such as objects of git. */
	op->new.entries = contents_end(v->contents);
	return hb_pass(err, &why, r);
}

/*
 * The base's own directory, which goes again with a redo.  A file that another
 * program put into it since the undo does not go with it.
 */
static int check_own_dir(struct reversal *v, struct op *op,
			 struct hb_error *err)
{
	struct site *s = &v->apply.sites[op->resource];
	struct place p;
	int r = 0;

	if (op->old.type != ENTRY_DIR || !op_moves(op) ||
	    (op->effect & OP_UPPER))
		return 0;
	if (v->back)
		site_undo(s, op, &p);
	else
		r = site_base(s, op, &p, err);
	if (r < 0)
		return r;
	if (v->back)
		op->old.entries = contents_read(&p);
	else if (!contents_are(&p, op->old.entries))
		return hb_fail_at(err, -HB_E_CONFLICT, op->path,
				  "changed since then:");
	return 0;
}

/* A directory that stays: it is still the one, and keeps what others did. */
static int check_dir(struct reversal *v, struct op *op, struct hb_error *err)
{
	struct site *s = &v->apply.sites[op->resource];
	const struct timespec *left = v->back ? &op->new.mtime : &op->old.mtime;
	auto_fd int base = site_open_dir(&s->base, op->path, NULL);
	auto_fd int upper = content_find_dir(s->resource->layers[0], op->path,
					     strlen(op->path), NULL);
	struct object now = { 0 };
	struct sys_attr a;

	op->effect &= ~(unsigned)OP_KEEP_TIME;
	op->layer = (struct object){ 0 };
	if (upper >= 0 && sys_attr_at(upper, "", &a) == 0)
		op->layer = object_of_attr(&a);
	if (op->effect & OP_IN_UPPER)
		return op->layer.type == ENTRY_DIR
			       ? 0
			       : hb_fail_at(err, -HB_E_CONFLICT, op->path,
					    "changed since then:");
	/* Closed by what is above it: looked at when that is opened. */
	if (base == -EACCES)
		return 0;
	if (base >= 0 && sys_attr_at(base, "", &a) == 0)
		now = object_of_attr(&a);
	if (!op_is_old(op, &now)) {
		/* Before a redo it is not there yet. */
		if (!v->back && (op->effect & OP_IN_NEW))
			return 0;
		/* The operation that makes it again looks at the place. */
		if (v->back && (op->identity & OP_REMADE) &&
		    now.type == ENTRY_NONE)
			return 0;
		return hb_fail_at(err, -HB_E_CONFLICT, op->path,
				  "changed since then:");
	}
	if (dress_has_attributes(op, base, &now, v->back) <= 0)
		return hb_fail_at(err, -HB_E_CONFLICT, op->path,
				  "changed since then:");
	if (!time_is_same(now.mtime, *left))
		op->effect |= OP_KEEP_TIME;
	return 0;
}

/*
 * Something lies there that an undo has put back, and no directory.  It may be
 * one where the operation only took a directory out of the layer.  The base or
 * its commits have all that was in that.
 */
static bool is_put_back(const struct reversal *v, const struct op *op,
			const struct place *p)
{
	bool may_be_dir = !op_moves(op) && op->layer.type == ENTRY_DIR;
	struct sys_attr a;

	return v->back && p->dir >= 0 &&
	       sys_attr_at(p->dir, p->name, &a) == 0 &&
	       (!S_ISDIR(a.mode) || may_be_dir) &&
	       time_is_before(a.ctime, v->undone);
}

static int make_room(struct reversal *v, struct op *op, struct hb_error *err)
{
	struct place upper;
	int r;

	if ((op->new.type == ENTRY_DIR &&op_moves(op)) ||
	    (op->effect & OP_UPPER))
		return 0;
	if (op->source != SOURCE_LAYER && !(op->effect & OP_LAYER_MOVES))
		return 0;
	r = site_upper(&v->apply.sites[op->resource], op, &upper, err);
	if (r < 0 || !is_put_back(v, op, &upper))
		return r;
	if (op->source == SOURCE_LAYER)
		op->source = SOURCE_STAGED;
	op->effect &= ~(unsigned)OP_LAYER_MOVES;
	return 0;
}

/*
 * Whether the old object of the base, which has other names there, is still as
 * we left it.  If not, another program has changed it, and the session has to
 * find that.
 */
static bool is_inode_seen(const struct reversal *v, const struct op *op)
{
	const struct txn *txn = v->apply.txn;
	struct site *s = &v->apply.sites[op->resource];
	struct place at = { .dir = -1 };
	char path[SEEN_INODE_SIZE];
	struct sys_attr a;
	struct seen seen;

	if (v->back)
		site_undo(s, op, &at);
	else if (site_base(s, op, &at, NULL) < 0)
		return false;
	if (!txn->seen || at.dir < 0 || sys_attr_at(at.dir, at.name, &a) < 0)
		return false;
	(void)snprintf(path, sizeof(path), SEEN_INODE "%llu",
		       (unsigned long long)a.ino);
	return txn->seen(txn->seen_ctx[op->resource], path, &seen) &&
	       seen.base_ino == a.ino &&
	       !time_is_before(seen.base_ctime, a.ctime) &&
	       !time_is_before(a.ctime, seen.base_ctime);
}

/*
 * git writes an index anew when it has looked at the files, with the same
 * entries.  Then that one is the operation's, as if it had been from the start.
 */
static bool follow_index(struct reversal *v, struct op *op)
{
	struct object *side = v->back ? &op->new : &op->old;
	struct site *s = &v->apply.sites[op->resource];
	struct object now;
	struct sys_attr a;
	struct place p;

	if (!op_moves(op) || op->new.type == ENTRY_NONE ||
	    !git_is_index_path(git_root(s->resource->is_git), op->path))
		return false;
	/* The index that returns, for a check the other way round. */
	site_undo(s, op, &p);
	if (v->back && op->old.type == ENTRY_FILE && p.dir >= 0)
		op->old.entries = git_index_name(p.dir, p.name);
	if (side->entries == 0 || site_base(s, op, &p, NULL) < 0 || p.dir < 0 ||
	    sys_attr_at(p.dir, p.name, &a) < 0)
		return false;
	now = object_of_attr(&a);
	if (object_is_unchanged(&now, side) && !is_since(v, &a))
		return false;
	now.entries = git_index_name(p.dir, p.name);
	if (now.entries != side->entries || a.nlink != 1)
		return false;
	*side = now;
	return true;
}

/*
 * git has packed the reference since, and removed its file.  Then the file of
 * before returns to an empty place, and hides the line in packed-refs.  That
 * the value is still ours is compared under git's locks: git_values.h.
 */
static void follow_packed(struct reversal *v, struct op *op)
{
	struct site *s = &v->apply.sites[op->resource];
	const char *rest =
		git_path_in_unit(git_root(s->resource->is_git), op->path);
	struct sys_attr a;
	struct place p;

	if (!v->back || op->kind != OP_REPLACE || (op->effect & OP_UPPER) ||
	    op->source != SOURCE_STAGED || op->old.type != ENTRY_FILE ||
	    op->new.type != ENTRY_FILE || !rest ||
	    strncmp(rest, "refs/", 5) != 0 || site_base(s, op, &p, NULL) < 0 ||
	    p.dir < 0 || sys_attr_at(p.dir, p.name, &a) != -ENOENT)
		return;
	op->kind = OP_DELETE;
	op->source = SOURCE_NONE;
	op->new = (struct object){ .type = ENTRY_NONE };
	op->effect &= ~(unsigned)(OP_OPAQUE | OP_ORIGIN);
}

/*
 * By now a branch of the host may need an object that git added, and an object
 * that nothing needs is in no way.  So it stays, and redo finds it there.  Of a
 * repository that goes whole, all goes.
 */
static bool stays(const struct reversal *v, const struct op *op)
{
	enum git_place root =
		git_root(v->apply.txn->resources[op->resource].is_git);
	bool is_new = (op->effect & OP_IN_NEW) ||
		      (op_moves(op) && op->old.type == ENTRY_NONE);

	return v->back && is_new && git_is_object_path(root, op->path);
}

/* In words, unless the check says more. */
static const char *change_since(const struct reversal *v)
{
	if (!v->back)
		return "changed since the undo";
	return journal_head(v->apply.journal)->kind == JOURNAL_ROLLBACK
		       ? "changed since the rollback"
		       : "changed since the commit";
}

static int write_one(struct reversal *v, struct op *op, struct hb_error *err)
{
	struct step *step = &v->apply.steps[op->resource];
	struct hb_error why = { 0 };
	bool is_followed;
	int r;

	v->against = op->effect & OP_UPPER ? "other changes are pending"
					   : change_since(v);
	if (op_is_written(op)) {
		v->n++;
		r = databases_check(&v->apply, op, v->back, err);
	} else if (op_dresses(op)) {
		v->n += op->mode != op->old.mode || op->uid != op->old.uid ||
			op->gid != op->old.gid || (op->effect & OP_XATTRS);
		r = check_dir(v, op, err);
	} else {
		v->n++;
		if ((op->effect & OP_LINKED) && !is_inode_seen(v, op))
			op->effect &= ~(unsigned)OP_LINKED;
		is_followed = follow_index(v, op);
		follow_packed(v, op);
		r = make_room(v, op, err);
		/* The layer keeps the newer version: nothing is left of it. */
		if (r == 0 && !op_has_effect(op))
			return 0;
		if (r == 0)
			r = step_check(step, op, v->back, &why);
		if (r == 0 && !(v->back && is_followed))
			r = check_moved(v, op, &why);
		if (r == 0)
			r = check_own_dir(v, op, &why);
		if (r >= 0 &&
		    held_check_base(step->site, op, &why) == -HB_E_CONFLICT) {
			v->against = "a program has the database open";
			r = -HB_E_CONFLICT;
		}
		/*
		 * In a directory that the commit closed to its owner there is
		 * nothing to be seen before it is opened; then the step looks.
		 */
		if (r == -EACCES)
			r = 0;
		else if (r < 0 && why.code != 0 && err)
			*err = why;
	}
	/* 1: it stays where it is, and in the journal. */
	return r < 0 ? r : journal_add(v->writer, op, err);
}

/* The user has to deal with all of them, so the first one ends nothing. */
static void note_conflict(struct reversal *v, const struct op *op,
			  const struct hb_error *why)
{
	const struct hb_report report = { .kind = HB_REPORT_CONFLICTED,
					  .resource = op->resource,
					  .path = op->path,
					  .text = v->against };

	if (v->conflict.code == 0)
		v->conflict = *why;
	(void)report_send(v->apply.txn->listener, &report);
}

static int write_all(struct reversal *v, struct hb_error *err)
{
	struct journal *j = v->apply.journal;
	struct journal_head head = *journal_head(j);
	const struct txn *txn = v->apply.txn;
	struct hb_error why;
	bool is_uncertain;
	struct op op;
	int r;

	head.kind = v->back ? JOURNAL_UNDO : JOURNAL_REDO;
	head.since = late_since(v->apply.txn);
	journal_to_start(j);
	while ((r = journal_next(j, &op, err)) == 1) {
		if (stays(v, &op)) {
			v->n_kept += !op_dresses(&op);
			continue;
		}
		why = (struct hb_error){ 0 };
		r = write_one(v, &op, &why);
		if (r == -HB_E_CONFLICT)
			note_conflict(v, &op, &why);
		else if (r < 0)
			return hb_pass(err, &why, r);
	}
	if (r == 0 && v->conflict.code != 0)
		r = hb_pass(err, &v->conflict, -HB_E_CONFLICT);
	for (size_t i = 0; r == 0 && txn->applying && i < txn->n_resources; i++)
		r = txn->applying(txn->applied_ctx, i, head.n_ops, err);
	return r < 0 ? r
		     : journal_publish(v->writer, &head, &is_uncertain, err);
}

/* Before anything is looked at, so that nothing seems to be missing. */
static int make_parents(struct reversal *v, struct hb_error *err)
{
	auto_parents struct parents p = PARENTS_NONE;
	struct journal *j = v->apply.journal;
	struct site *sites = v->apply.sites;
	size_t n = v->apply.txn->n_resources;
	struct op op;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = parents_begin(&sites[i], err);
	if (r < 0)
		return r;
	journal_to_start(j);
	while ((r = journal_next(j, &op, err)) == 1) {
		r = parents_need(&p, &sites[op.resource], &op, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = parents_end(&sites[i], err);
	return r;
}

static int prepare(struct reversal *v, struct txn *txn, uint64_t id,
		   struct hb_error *err)
{
	enum history which = v->back ? HISTORY_DONE : HISTORY_UNDONE;
	struct journal *journal = NULL;
	uint64_t later;
	int r;

	if (history_last(txn->session, HISTORY_UNDONE, &later, NULL) == 0)
		(void)history_stamp(txn->session, HISTORY_UNDONE, later,
				    &v->undone, NULL);
	r = history_stamp(txn->session, which, id, &v->stamp, err);
	/* What that one put back into the base has a newer ctime since. */
	if (v->back && time_is_before(v->stamp, v->undone))
		v->stamp = v->undone;
	if (r == 0)
		r = history_open(txn->session, which, id, &journal, err);
	if (r < 0)
		return r;
	r = apply_init(&v->apply, txn, journal, err);
	if (r == 0 && v->back)
		r = git_reach_check(&v->apply, v->stamp, err);
	if (r == 0)
		r = make_parents(v, err);
	if (r == 0)
		r = journal_begin(txn->session,
				  v->back ? JOURNAL_UNDO : JOURNAL_REDO,
				  &v->writer, err);
	if (r == 0)
		r = write_all(v, err);
	journal_writer_free(v->writer);
	apply_done(&v->apply);
	return r;
}

static int reverse(struct txn *txn, bool back, struct txn_result *ret_result,
		   struct hb_error *err)
{
	struct reversal v = { .back = back };
	struct run_request run = { .txn = txn,
				   .applied = txn->applied,
				   .applied_ctx = txn->applied_ctx };
	uint64_t id = 0;
	int r;

	r = run_check_idle(txn, err);
	if (r == 0)
		r = history_last(txn->session,
				 back ? HISTORY_DONE : HISTORY_UNDONE, &id,
				 err);
	if (r == -ENOENT) {
		hb_fix(err, back ? "holdback status lists the commits that "
				   "can be undone"
				 : "holdback commit; redo is possible right "
				   "after undo");
		return hb_fail(err, -HB_E_STATE, "there is nothing to %s",
			       back ? "undo" : "redo");
	}
	if (r == 0)
		r = prepare(&v, txn, id, err);
	if (r == 0)
		r = run_journal(&run, err);
	if (r < 0)
		return hb_fail(err, r, "cannot %s", back ? "undo" : "redo");
	*ret_result = (struct txn_result){ .id = id,
					   .n_operations = v.n,
					   .n_kept = v.n_kept,
					   .has_rest = back,
					   .undo_bytes = run.undo_bytes };
	return 0;
}

static int locked(struct txn *txn, bool back, struct txn_result *ret_result,
		  struct hb_error *err)
{
	struct run_locks locks;
	int r = run_lock(&locks, txn, err);

	if (r < 0)
		return r;
	r = reverse(txn, back, ret_result, err);
	run_unlock(&locks);
	return r;
}

int txn_undo(struct txn *txn, struct txn_result *ret_result,
	     struct hb_error *err)
{
	return locked(txn, true, ret_result, err);
}

int txn_redo(struct txn *txn, struct txn_result *ret_result,
	     struct hb_error *err)
{
	return locked(txn, false, ret_result, err);
}
