/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/ops.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "changes/database.h"
#include "changes/git/deliver.h"
#include "sys/attr.h"
#include "tree/tree.h"
#include "txn/databases.h"
#include "txn/git_locks.h"
#include "txn/levels.h"
#include "txn/made.h"
#include "txn/preflight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * From changes to operations
 * --------------------------
 *
 * The stream is in path order, a directory before what is in it.  A directory
 * that appears or vanishes with everything in it is one operation, if all of it
 * is wanted; what it holds is then skipped.  Otherwise:
 *
 *	appears, in part	an empty copy of it, and what is wanted in it
 *	vanishes, in part	what is wanted, and it stays
 *	opaque, in part		it stays, and what is wanted in it
 *
 * way.c says how an object gets there, levels.c has the directories above it.
 *
 * Every directory in which names change is an operation of its own, before
 * them.  It may have to be opened up, and it gets its times back.
 *
 * A directory that cannot be moved (way_is_remade()) and vanishes goes entry by
 * entry, and then itself.  If another directory replaces it, it stays and is
 * changed.
 */

static bool is_below_new(const struct planner *p)
{
	return p->depth > 0 && p->levels[p->depth - 1].is_new;
}

/*
 * Whether the entries of a directory that moves have the right groups already.
 * A directory that hands its group down gave them the group of the view.
 */
static bool keeps_groups(const struct planner *p, const struct change *c)
{
	return !(c->new.mode &S_ISGID) ||
	       levels_group(levels_parent(p), c) == c->new.gid;
}

static int skip_below(struct planner *p, const char *path, struct hb_error *err)
{
	int r;

	buf_cut(&p->skip, 0);
	r = buf_add_str(&p->skip, path);
	return r < 0 ? hb_fail(err, r, "cannot keep a path") : 0;
}

static struct op new_op(struct planner *p, const struct change *c)
{
	struct op op = { .identity = site_rises(p->site, c->old.nlink),
			 .resource = p->q->resource,
			 .slot = p->slot++,
			 .path = c->path,
			 .old = object_of(&c->old),
			 .accepted = (enum conflict)c->conflict };

	/* Its place is in a directory that is new itself. */
	if (is_below_new(p))
		op.old = (struct object){ .type = ENTRY_NONE };
	else if (c->flags & CHANGE_OLD_LINKED)
		op.effect |= OP_LINKED;
	if (p->is_successor)
		op.identity |= OP_SHARES;
	op.kind = c->new.type == ENTRY_NONE   ? OP_DELETE
		  : op.old.type == ENTRY_NONE ? OP_ADD
					      : OP_REPLACE;
	if (op.kind != OP_DELETE)
		levels_set_final(levels_parent(p), c, &op);
	return op;
}

static bool is_fixed_dir(const struct planner *p, const struct change *c)
{
	return way_is_remade(&p->way, c) && !is_below_new(p);
}

/*
 * A level that ends with the OP_REMOVE of the directory, and then with what
 * takes its place: end_removed().
 */
static int remove_dir(struct planner *p, const struct change *c,
		      struct hb_error *err)
{
	struct level level = { .len = strlen(c->path),
			       .is_removed = true,
			       .slot = p->slot++,
			       .change = *c };
	int r;

	r = levels_need_parent(p, c->path, err);
	if (r == 0)
		r = way_remake(&p->way, c, level.slot, &level.staged, err);
	if (r == 0)
		r = levels_push(p, &level, err);
	return r < 0 ? r
		     : levels_write_dir(p, &p->levels[p->depth - 1], NULL, err);
}

static int plan_deletion(struct planner *p, const struct change *c,
			 bool is_partial, struct hb_error *err)
{
	struct op op;
	int r;

	/* With something in it that stays, it stays itself. */
	if (is_partial)
		return 0;
	if (is_fixed_dir(p, c))
		return remove_dir(p, c, err);
	r = levels_need_parent(p, c->path, err);
	if (r < 0)
		return r;
	op = new_op(p, c);
	r = levels_clear_upper(p, &op, err);
	if (r == 0)
		r = levels_write_op(p, &op, err);
	if (r < 0 || c->old.type != ENTRY_DIR)
		return r;
	return skip_below(p, c->path, err);
}

static int plan_object(struct planner *p, const struct change *c,
		       bool is_partial, struct hb_error *err)
{
	struct op op;
	int r;

	/* It would take the place of a directory with something that stays. */
	if (is_partial && c->old.type == ENTRY_DIR)
		return 0;
	if (is_fixed_dir(p, c))
		return remove_dir(p, c, err);
	r = levels_need_parent(p, c->path, err);
	if (r < 0)
		return r;
	op = new_op(p, c);
	r = levels_is_copied(p) ? WAY_COPY : way_choose(&p->way, c, err);
	if (r < 0)
		return r;
	if (r == WAY_MOVE) {
		way_move(&p->way, c, &op);
	} else {
		r = way_copy(&p->way, c, &op, err);
		if (r == 0 && !(c->item && c->item->keeps_layer))
			r = levels_clear_upper(p, &op, err);
		if (r < 0)
			return r;
	}
	r = levels_write_op(p, &op, err);
	if (r < 0 || c->old.type != ENTRY_DIR)
		return r;
	return skip_below(p, c->path, err);
}

/* A directory of both sides: its attributes, and its being opaque. */
static int plan_both_dirs(struct planner *p, const struct change *c, bool takes,
			  struct hb_error *err)
{
	struct level level = { .len = strlen(c->path) };
	int r;

	if (c->flags & CHANGE_OPAQUE) {
		level.is_copied = true;
		level.keeps_layer = true;
	}
	r = levels_push(p, &level, err);
	if (r < 0 || !takes)
		return r;
	return levels_write_dir(p, &p->levels[p->depth - 1], c, err);
}

/* Opaque, wholly wanted, and not to be moved: in place, by what is in it. */
static int plan_opaque_copy(struct planner *p, const struct change *c,
			    struct hb_error *err)
{
	struct op op = { .kind = OP_LAYER,
			 .resource = p->q->resource,
			 .slot = p->slot++,
			 .path = c->path };
	int r;

	r = levels_clear_upper(p, &op, err);
	if (r == 0 && (op.effect & OP_LAYER_MOVES)) {
		/* The likeness above it loses a name. */
		r = levels_need_parent(p, c->path, err);
		if (r == 0)
			r = journal_add(p->q->writer, &op, err);
	}
	return r < 0 ? r : plan_both_dirs(p, c, true, err);
}

/* A directory that appears, with everything in it or in part. */
static int plan_new_dir(struct planner *p, const struct change *c, bool takes,
			bool is_partial, struct hb_error *err)
{
	struct level level = { .len = strlen(c->path), .change = *c };
	bool is_left = !is_partial &&
		       (c->new.is_opaque || made_is(c) || levels_is_copied(p));
	struct op op;
	int r;

	level.is_pending = true;
	level.is_blocked = !takes && c->old.type != ENTRY_NONE;
	/* Opaque, it would hide what arrived below it. */
	level.is_copied = c->new.is_opaque || is_left;
	level.keeps_layer = level.is_copied;
	r = takes ? levels_need_parent(p, c->path, err) : 0;
	if (r < 0)
		return r;
	op = (struct op){ .resource = p->q->resource, .path = c->path };
	if (is_left && levels_can_leave(p)) {
		/* All of the original goes at once. */
		op.kind = OP_LAYER;
		op.slot = p->slot++;
		r = levels_clear_upper(p, &op, err);
		if (r == 0 && (op.effect & OP_LAYER_MOVES))
			r = journal_add(p->q->writer, &op, err);
	}
	if (r == 0)
		r = levels_push(p, &level, err);
	return r < 0 || !takes ? r : levels_make(p, p->depth - 1, err);
}

static int plan_dir(struct planner *p, const struct change *c, bool takes,
		    bool is_partial, struct hb_error *err)
{
	bool is_opaque = c->flags & CHANGE_OPAQUE;
	struct op op;
	int r;

	if (is_partial || made_is(c))
		return is_opaque ? plan_both_dirs(p, c, takes, err)
				 : plan_new_dir(p, c, takes, is_partial, err);
	/* Which group it gets is known from then on. */
	r = is_opaque ? 0 : levels_need_parent(p, c->path, err);
	if (r < 0)
		return r;
	r = levels_is_copied(p) || !keeps_groups(p, c) || is_fixed_dir(p, c)
		    ? WAY_COPY
		    : way_choose(&p->way, c, err);
	if (r < 0)
		return r;
	if (r == WAY_COPY)
		return is_opaque ? plan_opaque_copy(p, c, err)
				 : plan_new_dir(p, c, takes, false, err);
	r = levels_need_parent(p, c->path, err);
	if (r < 0)
		return r;
	op = new_op(p, c);
	way_move(&p->way, c, &op);
	r = levels_write_op(p, &op, err);
	return r < 0 ? r : skip_below(p, c->path, err);
}

/* Only the layer changes: what the base has says the same. */
static int plan_settled(struct planner *p, const struct change *c,
			struct hb_error *err)
{
	struct level level = { .len = strlen(c->path), .keeps_layer = true };
	struct op op = { .kind = OP_LAYER,
			 .resource = p->q->resource,
			 .path = c->path };
	int r;

	r = levels_clear_upper(p, &op, err);
	if (r == 0 && (op.effect & OP_LAYER_MOVES)) {
		op.slot = p->slot++;
		r = levels_need_parent(p, c->path, err);
		if (r == 0)
			r = journal_add(p->q->writer, &op, err);
	}
	/* What is in it leaves with it. */
	return r < 0 || (c->new.type != ENTRY_DIR && c->old.type != ENTRY_DIR)
		       ? r
		       : levels_push(p, &level, err);
}

/* Only SQLite itself can change one that others use. */
static int plan_database(struct planner *p, const struct change *c,
			 struct hb_error *err)
{
	struct op op = { .kind = OP_DATABASE,
			 .source = SOURCE_STAGED,
			 .identity = site_rises(p->site, c->old.nlink),
			 .resource = p->q->resource,
			 .slot = p->slot++,
			 .path = c->path,
			 .old = object_of(&c->old),
			 .accepted = (enum conflict)c->conflict };
	int r;

	if (c->old.type != ENTRY_FILE || c->new.type != ENTRY_FILE) {
		hb_fix(err, "commit --except it, or roll that back");
		return hb_fail_at(
			err, -HB_E_STATE, c->path,
			"the session removed or replaced the database");
	}
	r = databases_plan(p->q->txn, p->site, &p->q->rule, &op, err);
	if (r == 0)
		r = journal_add(p->q->writer, &op, err);
	return r < 0 ? r : plan_settled(p, c, err);
}

static int plan_change(struct planner *p, const struct change *c,
		       bool is_partial, struct hb_error *err)
{
	bool takes = changes_choice_takes(&p->q->options->choice, c);
	enum database_part part;

	if (c->item && c->item->how == DELIVERED_SETTLED)
		return takes && !is_partial ? plan_settled(p, c, err) : 0;
	if (c->new.type == ENTRY_DIR)
		return survey_is_whole_dir(c)
			       ? plan_dir(p, c, takes, is_partial, err)
		       : takes ? plan_both_dirs(p, c, takes, err)
			       : 0;
	if (!takes)
		return 0;
	if (database_is_listed(p->site->resource, c->path, &part))
		return part == DATABASE_MAIN ? plan_database(p, c, err)
					     : plan_settled(p, c, err);
	return c->new.type == ENTRY_NONE ? plan_deletion(p, c, is_partial, err)
					 : plan_object(p, c, is_partial, err);
}

/* The directory that was there is no change of its own any more. */
static int plan_successor(struct planner *p, const struct change *c,
			  struct hb_error *err)
{
	struct change alone = *c;
	int r;

	alone.old = (struct entry){ .type = ENTRY_NONE };
	alone.flags &= ~(unsigned)CHANGE_OLD_LINKED;
	p->is_successor = true;
	r = plan_object(p, &alone, false, err);
	p->is_successor = false;
	return r;
}

/* All that was in the directory has its operation: now it has. */
static int end_removed(struct planner *p, const struct level *level,
		       struct hb_error *err)
{
	auto_free char *path = strndup(buf_str(&p->path), level->len);
	struct change c = level->change;
	bool is_shared = c.new.type != ENTRY_NONE;
	struct op op = { .kind = OP_REMOVE,
			 .source = SOURCE_STAGED,
			 .identity = site_rises(p->site, 1) |
				     (is_shared ? OP_SHARES : 0),
			 .resource = p->q->resource,
			 .slot = level->slot,
			 .path = path,
			 .old = object_of(&c.old),
			 .new = level->staged,
			 .mode = level->staged.mode,
			 .uid = c.old.uid,
			 .gid = c.old.gid,
			 .accepted = (enum conflict)c.conflict };
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	c.path = path;
	r = is_shared ? 0 : levels_clear_upper(p, &op, err);
	if (r == 0)
		r = levels_write_op(p, &op, err);
	return r < 0 || !is_shared ? r : plan_successor(p, &c, err);
}

static int leave(struct planner *p, const char *path, struct hb_error *err)
{
	struct level level;

	while (levels_leave(p, path, &level)) {
		int r = level.is_removed ? end_removed(p, &level, err) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static int plan_one(struct planner *p, const struct change *change,
		    struct hb_error *err)
{
	struct change at = *change;
	const struct change *c = &at;
	bool is_partial = false;
	int r;

	if (survey_is_whole_dir(c)) {
		is_partial = survey_is_partial(p->q->survey, p->number);
		/* What is in it goes with it, and has no operation. */
		if (c->old.type == ENTRY_DIR && at.conflict == CONFLICT_NONE &&
		    survey_is_disputed(p->q->survey, p->number))
			at.conflict = CONFLICT_BELOW;
		p->number++;
	}
	if (p->skip.len > 0 &&
	    levels_is_below(c->path, buf_str(&p->skip), p->skip.len))
		return preflight_inside(&c->old, c->path, err);
	buf_cut(&p->skip, 0);
	r = leave(p, c->path, err);
	if (r < 0)
		return r;
	buf_cut(&p->path, 0);
	r = buf_add_str(&p->path, c->path);
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	return plan_change(p, c, is_partial, err);
}

/* It has its place in the order, and its number among the directories. */
static int plan_in_turn(struct planner *p, const struct change *c,
			enum delivered_turn turn, struct hb_error *err)
{
	enum delivered_turn its = c->item ? c->item->turn : TURN_FILES;

	if (its == turn)
		return plan_one(p, c, err);
	p->number += survey_is_whole_dir(c);
	return 0;
}

/* The root's times are carried as any directory's, unless it is shown. */
static int plan_top(struct planner *p, const struct change *c,
		    struct hb_error *err)
{
	struct level level = { 0 };
	bool takes = change_is_top(c) &&
		     changes_choice_takes(&p->q->options->choice, c);
	int r;

	if (!takes && p->q->survey->has_rest)
		return 0;
	if (takes && sys_effective_uid() != 0 &&
	    sys_effective_uid() != c->old.uid) {
		hb_fix(err, "holdback commit --except .");
		return hb_fail(
			err, -EPERM,
			"the directory '.' belongs to another user: cannot "
			"change its attributes");
	}
	r = levels_push(p, &level, err);
	return r < 0 ? r
		     : levels_write_dir(p, &p->levels[0], takes ? c : NULL,
					err);
}

static int plan_turn(struct planner *p, enum delivered_turn turn,
		     struct hb_error *err)
{
	bool is_first = turn == TURN_FILES;
	struct change c;
	int r;

	p->number = 0;
	buf_cut(&p->skip, 0);
	r = changes_rewind(p->q->changes, err);
	while (r >= 0 && (r = changes_next(p->q->changes, &c, err)) == 1) {
		r = is_first ? plan_top(p, &c, err) : 0;
		is_first = false;
		if (r >= 0 && !change_is_top(&c))
			r = plan_in_turn(p, &c, turn, err);
	}
	return r < 0 ? r : leave(p, NULL, err);
}

static int plan_all(struct planner *p, struct hb_error *err)
{
	bool has_turns = changes_delivered(p->q->changes)->n > 0;
	int r = plan_turn(p, TURN_FILES, err);

	for (int i = TURN_FILES + 1; r == 0 && has_turns && i < TURNS; i++)
		r = plan_turn(p, (enum delivered_turn)i, err);
	if (r == 0 && has_turns)
		r = git_locks_plan(p->site, p->q->changes, p->q->syncer, err);
	return r;
}

int ops_write(const struct ops_request *request, uint64_t *ret_slot,
	      struct hb_error *err)
{
	const struct resource *res = request->site->resource;
	struct planner p = {
		.q = request,
		.site = request->site,
		.slot = request->first_slot,
		.path = BUF_INIT(TREE_PATH_MAX),
		.skip = BUF_INIT(TREE_PATH_MAX),
		.way = {
			.site = request->site,
			.syncer = request->syncer,
			.survey = request->survey,
			.linked = { request->site->dirs[SITE_SPOT_TXN], 'g',
				    false },
		},
	};
	int r;

	p.way.can_leave =
		res->n_layers == 1 && !(res->is_shared && res->is_shared[0]);
	p.way.can_move = p.way.can_leave && res->record->same_mount;
	r = preflight_space(request->site,
			    p.way.can_move ? 0 : request->survey->bytes, err);
	if (r == 0)
		r = plan_all(&p, err);
	if (r == 0)
		r = linked_end(&p.way.linked, err);
	if (r == 0)
		syncer_add(request->syncer, request->site->dirs[SITE_SPOT_TXN],
			   ".", false);
	levels_done(&p);
	buf_done(&p.path);
	buf_done(&p.skip);
	if (r < 0)
		return r;
	*ret_slot = p.slot;
	return 0;
}
