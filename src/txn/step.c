/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/step.h"

#include "base/error.h"
#include "base/mode.h"
#include "base/quote.h"
#include "sys/durable.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "tree/tree.h"
#include "txn/contents.h"
#include "txn/dress.h"

#include <errno.h>
#include <fcntl.h>

/*
 * One operation, by identity
 * --------------------------
 *
 * An operation has three places: base, source and undo slot.  Each holds
 * nothing, the old object, the new one or another.  These are the whole state.
 * The table below says what to do next in either direction, until it says that
 * there is nothing left to do.  A process that dies between two calls leaves
 * one of the rows, so going on after a crash is going on.  t_crash visits every
 * row.
 *
 * (a) An object is moved out of the base only if it is the planned one and no
 *     program has written to it since.  The moved object is looked at again,
 *     because a program may write between looking and moving.
 * (b) Nothing is unlinked but a second name of an object whose first name is in
 *     its place.
 * (c) Objects whose state is in no row are not touched.
 *
 * After a crash an entry that is neither the old nor the new one is left to the
 * user: see -HB_E_STATE.  Only going back over a step that was not made needs
 * nothing of the base and does not ask.
 */

enum holds {
	H_NONE,
	H_OLD,
	H_NEW,
	H_OTHER,
};

enum {
	AT_BASE,
	AT_SOURCE,
	AT_UNDO,
	PLACES
};

/*
 * What a row can ask for: a move of the object at one place to another, of
 * drop() by flags.  TAKES: the base's object leaves, or that is its first step.
 * PUTS: the base gets a name that it does not have.  An object that left the
 * base is compared with the plan again, and the last column returns it.
 */
enum {
	TAKES = 1 << 0,
	PUTS = 1 << 1
};

/* clang-format off */
#define ACTIONS(X)                                                            \
	X(A_STATE, NULL, 0, 0, 0, NULL) /* not one of ours */                 \
	X(A_DONE, NULL, 0, 0, 0, NULL)                                        \
	/* done, and then another program put its own object there */         \
	X(A_LEFT, NULL, 0, 0, 0, NULL)                                        \
	X(A_CONFLICT, NULL, 0, 0, 0, NULL)                                    \
	X(A_SWAP, swap, AT_BASE, AT_SOURCE, TAKES, exchange)                  \
	X(A_PARK, move_over, AT_SOURCE, AT_UNDO, 0, NULL)                     \
	X(A_UNPARK, unpark, AT_UNDO, AT_SOURCE, TAKES, NULL)                  \
	X(A_ENTER, move_keep, AT_SOURCE, AT_BASE, PUTS, NULL)                 \
	X(A_RETURN, move_keep, AT_UNDO, AT_BASE, PUTS, NULL)                  \
	X(A_GIVE, move_over, AT_BASE, AT_SOURCE, TAKES, move_keep)            \
	X(A_TAKE, move_over, AT_BASE, AT_UNDO, TAKES, move_keep)              \
	X(A_CLEAR, move_over, AT_BASE, AT_UNDO, 0, NULL)                      \
	/* over the old or the new one, which has a second name */            \
	X(A_OVER_NEW, move_over, AT_SOURCE, AT_BASE, TAKES, NULL)             \
	X(A_OVER_OLD, move_over, AT_UNDO, AT_BASE, TAKES, NULL)               \
	/* an empty directory */                                              \
	X(A_REMOVE, drop, AT_BASE, AT_REMOVEDIR, 0, NULL)                     \
	X(A_STORE, store, AT_BASE, AT_SOURCE, 0, NULL)                        \
	/* a second name */                                                   \
	X(A_DROP_BASE, drop, AT_BASE, 0, 0, NULL)                             \
	X(A_DROP_SOURCE, drop, AT_SOURCE, 0, 0, NULL)                         \
	X(A_DROP_UNDO, drop, AT_UNDO, 0, 0, NULL)                             \
	/* another came: let it return, then conflict */                      \
	X(A_WRONG_SWAP, exchange, AT_BASE, AT_SOURCE, 0, NULL)                \
	X(A_WRONG_RETURN, move_keep, AT_UNDO, AT_BASE, PUTS, NULL)

#define NAME(name, act, from, to, how, returns) name,
#define ACTION(name, act, from, to, how, returns) \
	[name] = { act, from, to, how, returns },
/* clang-format on */

enum action {
	ACTIONS(NAME)
};

/* What else a row asks about the objects. */
enum guard {
	/* A directory cannot be renamed over what is a second name. */
	G_OLD_DIR = 1 << 0,
	G_NEW_DIR = 1 << 1,
	/* Killed between moving the old object and looking at it again. */
	G_WRITTEN = 1 << 2,
	/*
	 * Killed between storing a directory and looking into it: store().  Or
	 * on the way back: a program has put something into a directory that we
	 * made.  All of ours has left it by then.
	 */
	G_FILLED = 1 << 3,
};

struct row {
	enum op_kind kind;
	enum holds base, source, undo;
	unsigned needs, forbids; /* enum guard */
	enum action forward, back;
};

/* clang-format off */
static const struct row rows[] = {
	{ OP_REPLACE, H_OLD, H_NEW, H_NONE, 0, 0, A_SWAP, A_DONE },
	{ OP_REPLACE, H_NEW, H_OLD, H_NONE, 0, G_WRITTEN, A_PARK, A_SWAP },
	{ OP_REPLACE, H_NEW, H_OLD, H_NONE, G_WRITTEN, 0, A_WRONG_SWAP, A_SWAP },
	{ OP_REPLACE, H_NEW, H_NONE, H_OLD, 0, G_FILLED, A_DONE, A_UNPARK },
	{ OP_REPLACE, H_NEW, H_NONE, H_OLD, G_FILLED, 0, A_DONE, A_CONFLICT },
	{ OP_REPLACE, H_OLD, H_NEW, H_OLD, 0, G_NEW_DIR, A_OVER_NEW, A_DROP_UNDO },
	{ OP_REPLACE, H_OLD, H_NEW, H_OLD, G_NEW_DIR, 0, A_DROP_BASE, A_DROP_UNDO },
	{ OP_REPLACE, H_NONE, H_NEW, H_OLD, 0, 0, A_ENTER, A_RETURN },
	{ OP_REPLACE, H_NEW, H_NEW, H_OLD, 0, G_OLD_DIR, A_DROP_SOURCE, A_OVER_OLD },
	{ OP_REPLACE, H_NEW, H_NEW, H_OLD, G_OLD_DIR, 0, A_DROP_SOURCE, A_DROP_BASE },
	{ OP_REPLACE, H_NEW, H_OTHER, H_NONE, 0, 0, A_WRONG_SWAP, A_WRONG_SWAP },
	{ OP_REPLACE, H_OLD, H_OTHER, H_NONE, 0, 0, A_STATE, A_WRONG_SWAP },
	{ OP_REPLACE, H_OTHER, H_NEW, H_NONE, 0, 0, A_CONFLICT, A_DONE },
	{ OP_REPLACE, H_NONE, H_NEW, H_NONE, 0, 0, A_CONFLICT, A_DONE },
	{ OP_REPLACE, H_OTHER, H_OLD, H_NONE, 0, 0, A_PARK, A_CONFLICT },
	{ OP_REPLACE, H_OTHER, H_NONE, H_OLD, 0, 0, A_LEFT, A_CONFLICT },
	{ OP_REPLACE, H_NONE, H_NONE, H_OLD, 0, 0, A_DONE, A_CONFLICT },

	{ OP_ADD, H_NONE, H_NEW, H_NONE, 0, 0, A_ENTER, A_DONE },
	{ OP_ADD, H_NEW, H_NONE, H_NONE, 0, G_FILLED, A_DONE, A_GIVE },
	{ OP_ADD, H_NEW, H_NONE, H_NONE, G_FILLED, 0, A_DONE, A_LEFT },
	{ OP_ADD, H_NEW, H_NEW, H_NONE, 0, 0, A_DROP_SOURCE, A_DROP_BASE },
	{ OP_ADD, H_OTHER, H_NEW, H_NONE, 0, 0, A_CONFLICT, A_DONE },
	{ OP_ADD, H_OTHER, H_NONE, H_NONE, 0, 0, A_LEFT, A_CONFLICT },

	{ OP_DELETE, H_OLD, H_NONE, H_NONE, 0, 0, A_TAKE, A_DONE },
	{ OP_DELETE, H_NONE, H_NONE, H_OLD, 0, 0, A_DONE, A_RETURN },
	{ OP_DELETE, H_OLD, H_NONE, H_OLD, 0, 0, A_DROP_BASE, A_DROP_UNDO },
	{ OP_DELETE, H_NONE, H_NONE, H_OTHER, 0, 0, A_WRONG_RETURN, A_WRONG_RETURN },
	{ OP_DELETE, H_OTHER, H_NONE, H_NONE, 0, 0, A_CONFLICT, A_DONE },
	{ OP_DELETE, H_NONE, H_NONE, H_NONE, 0, 0, A_CONFLICT, A_DONE },
	{ OP_DELETE, H_OTHER, H_NONE, H_OLD, 0, 0, A_LEFT, A_CONFLICT },

	{ OP_REMOVE, H_OLD, H_NEW, H_NONE, 0, 0, A_REMOVE, A_DONE },
	{ OP_REMOVE, H_NONE, H_NEW, H_NONE, 0, G_FILLED, A_DONE, A_ENTER },
	{ OP_REMOVE, H_NONE, H_NEW, H_NONE, G_FILLED, 0, A_CONFLICT, A_ENTER },
	{ OP_REMOVE, H_NEW, H_NONE, H_NONE, 0, 0, A_STORE, A_DONE },
	{ OP_REMOVE, H_OTHER, H_NEW, H_NONE, 0, G_FILLED, A_DONE, A_CONFLICT },
	{ OP_REMOVE, H_OTHER, H_NEW, H_NONE, G_FILLED, 0, A_CONFLICT, A_CONFLICT },
	{ OP_REMOVE, H_OTHER, H_NONE, H_NONE, 0, 0, A_CONFLICT, A_DONE },

	{ OP_LAYER, H_OLD, H_NONE, H_NONE, 0, 0, A_CLEAR, A_DONE },
	{ OP_LAYER, H_NONE, H_NONE, H_OLD, 0, 0, A_DONE, A_RETURN },
	{ OP_LAYER, H_OLD, H_NONE, H_OLD, 0, 0, A_DROP_BASE, A_DROP_UNDO },
	{ OP_LAYER, H_OTHER, H_NONE, H_OLD, 0, 0, A_DONE, A_STATE },
};
/* clang-format on */

/* More than any way through the table. */
#define STEPS_MAX 16

/* One operation in one direction, and the objects at its places. */
struct turn {
	struct step *step;
	const struct op *op;
	bool back;
	bool is_run; /* and not only looked at: see step_check() */
	struct place place[PLACES];
	struct object object[PLACES];
	enum holds holds[PLACES];
	size_t row; /* that decided; SIZE_MAX: none */
	struct hb_error *err;
};

static int fail_for(const struct turn *t, int r, const char *what)
{
	const char *path = t->op->effect & OP_UPPER ? "upper" : t->op->path;

	return hb_fail(t->err, r, "%s %s", what, quoted(path));
}

static int conflict(const struct turn *t)
{
	return fail_for(t, -HB_E_CONFLICT, "meanwhile changed:");
}

static enum holds holds(const struct object *o, const struct op *op)
{
	if (o->type == ENTRY_NONE)
		return H_NONE;
	if (op_is_old(op, o))
		return H_OLD;
	return object_is(o, &op->new) ? H_NEW : H_OTHER;
}

static int look(struct turn *t)
{
	struct site *site = t->step->site;
	int r;

	r = site_base(site, t->op, &t->place[AT_BASE], t->err);
	if (r < 0)
		return r;
	r = site_source(site, t->op, &t->place[AT_SOURCE], t->err);
	if (r < 0)
		return r;
	site_undo(site, t->op, &t->place[AT_UNDO]);
	for (int i = 0; i < PLACES; i++) {
		r = place_read(&t->place[i], &t->object[i], t->err);
		if (r < 0)
			return fail_for(t, r, "cannot look at");
		t->holds[i] = holds(&t->object[i], t->op);
	}
	return 0;
}

/*
 * Where a directory is that has to be empty before it goes on.  It is the copy
 * of a removed one, or was made empty and goes back.  -1: nowhere.
 */
static int empty_place(const struct turn *t)
{
	const struct op *op = t->op;

	if (op->kind == OP_REMOVE)
		return !t->back && t->holds[AT_SOURCE] == H_NEW ? AT_SOURCE
								: -1;
	/* Before the way back begins, all of ours is in it. */
	return t->is_run && t->back && op->source == SOURCE_STAGED &&
			       op->new.type == ENTRY_DIR &&
			       t->holds[AT_BASE] == H_NEW
		       ? AT_BASE
		       : -1;
}

/* The guards that hold. */
static int guards_of(const struct turn *t)
{
	int at = empty_place(t);
	int all = (t->op->old.type == ENTRY_DIR ? G_OLD_DIR : 0) |
		  (t->op->new.type == ENTRY_DIR ? G_NEW_DIR : 0);
	int r = 1;

	if (!op_is_old_unchanged(t->op, &t->object[AT_SOURCE]))
		all |= G_WRITTEN;
	if (at >= 0)
		r = tree_is_empty(t->place[at].dir, t->place[at].name,
				  TREE_OURS, t->err);
	return r < 0 ? r : r ? all : all | G_FILLED;
}

static bool fits(const struct turn *t, const struct row *row, unsigned guards)
{
	return row->kind == t->op->kind && row->base == t->holds[AT_BASE] &&
	       row->source == t->holds[AT_SOURCE] &&
	       row->undo == t->holds[AT_UNDO] &&
	       (guards & row->needs) == row->needs && !(guards & row->forbids);
}

/* The action of the row that fits, A_STATE where none does. */
static int choose(struct turn *t)
{
	int guards = guards_of(t);

	t->row = SIZE_MAX;
	if (guards < 0)
		return guards;
	for (size_t i = 0; i < step_rows(); i++)
		if (fits(t, &rows[i], (unsigned)guards)) {
			t->row = i;
			return (int)(t->back ? rows[i].back : rows[i].forward);
		}
	return A_STATE;
}

size_t step_rows(void)
{
	return sizeof(rows) / sizeof(rows[0]);
}

static bool is_flag_unknown(int r)
{
	return r == -EINVAL || r == -ENOSYS || r == -EOPNOTSUPP;
}

static int move(const struct turn *t, int from, int to, unsigned flags)
{
	return sys_renameat2(t->place[from].dir, t->place[from].name,
			     t->place[to].dir, t->place[to].name, flags);
}

static int move_over(const struct turn *t, int from, int to)
{
	return move(t, from, to, 0);
}

/* A second name, or the first one where there can be no second. */
static int link_or_move(const struct turn *t, int from, int to)
{
	int r = t->object[from].type == ENTRY_DIR
			? -EPERM
			: sys_linkat(t->place[from].dir, t->place[from].name,
				     t->place[to].dir, t->place[to].name);

	return r == -EPERM || r == -EMLINK ? move_over(t, from, to) : r;
}

/* A file system that does not know the flag is not asked again. */
static int move_flagged(const struct turn *t, int from, int to, unsigned flag)
{
	int r = t->step->is_plain ? -EINVAL : move(t, from, to, flag);

	t->step->is_plain = is_flag_unknown(r);
	return r;
}

/*
 * To a place where nothing may be.  Without the flag a second name does it,
 * which fails if the first is taken.  Then only a directory is at the mercy of
 * a program that makes an empty directory of the same name in between.
 */
static int move_keep(const struct turn *t, int from, int to)
{
	int r = move_flagged(t, from, to, RENAME_KEEP);

	return t->step->is_plain ? link_or_move(t, from, to) : r;
}

/*
 * Old and new change places.  Without the flag: a second name for what leaves
 * and the other one over it.  Directories take two renames, with the journal to
 * cover the moment between.  The table takes over after the first call.
 */
static int swap(const struct turn *t, int from, int to)
{
	bool has_dir = t->object[AT_BASE].type == ENTRY_DIR ||
		       t->object[AT_SOURCE].type == ENTRY_DIR ||
		       t->object[AT_UNDO].type == ENTRY_DIR;
	int aside = t->back ? AT_SOURCE : AT_UNDO;
	int r = move_flagged(t, from, to, RENAME_SWAP);

	if (!t->step->is_plain)
		return r;
	/* Going back, the old one has to be out of the source's place first. */
	if (t->back && t->holds[AT_SOURCE] != H_NONE)
		return move_over(t, AT_SOURCE, AT_UNDO);
	return has_dir ? move_over(t, AT_BASE, aside)
		       : link_or_move(t, AT_BASE, aside);
}

static int unpark(const struct turn *t, int from, int to)
{
	return t->step->is_plain ? swap(t, from, to) : move_over(t, from, to);
}

/* Without the flag it was not we who left this. */
static int exchange(const struct turn *t, int from, int to)
{
	int r = move(t, from, to, RENAME_SWAP);

	return is_flag_unknown(r) ? -HB_E_STATE : r;
}

static int drop(const struct turn *t, int from, int flags)
{
	return sys_unlinkat(t->place[from].dir, t->place[from].name, flags);
}

/* 0, or -ENOTEMPTY. */
static int demand_empty(const struct place *p)
{
	int r = tree_is_empty(p->dir, p->name, TREE_OURS, NULL);

	return r == 0 ? -ENOTEMPTY : r < 0 ? r : 0;
}

/* A program that put something into it meanwhile has it back. */
static int store(const struct turn *t, int from, int to)
{
	/* Most are found before anything moves. */
	int r = demand_empty(&t->place[from]);

	if (r < 0)
		return r;
	r = move_over(t, from, to);
	if (r < 0)
		return r;
	r = demand_empty(&t->place[to]);
	if (r < 0)
		(void)move_keep(t, to, from);
	return r;
}

static const struct {
	int (*act)(const struct turn *t, int from, int to);
	int from, to;
	unsigned how;
	int (*returns)(const struct turn *t, int from, int to);
} actions[] = { ACTIONS(ACTION) };

static bool is_as_planned(const struct turn *t, enum holds h, int at)
{
	const struct object *o = h == H_OLD ? &t->op->old : &t->op->new;

	if (h == H_OLD ? !op_is_old_unchanged(t->op, &t->object[at])
		       : !object_is_unchanged(&t->object[at], o))
		return false;
	/* A directory itself says nothing of what was put into it. */
	return !t->is_run || o->type != ENTRY_DIR ||
	       contents_are(&t->place[at], o->entries);
}

/* A program wrote to the object that is about to leave the base. */
static bool is_written_to(const struct turn *t)
{
	enum holds h = t->holds[AT_BASE];

	return (h == H_OLD || h == H_NEW) && !is_as_planned(t, h, AT_BASE);
}

/* Gives both objects the attributes of the side we are on. */
static int settle(struct turn *t)
{
	const struct op *op = t->op;
	bool *is_dressed = &t->step->is_dressed;

	for (int i = 0; i < PLACES; i++) {
		const struct object *o = &t->object[i];
		int r = 0;

		/* Of an OP_REMOVE its own attributes are still to come. */
		if (t->holds[i] == H_OLD && op->kind != OP_REMOVE &&
		    o->type == ENTRY_DIR)
			r = dress_moved(&t->place[i], o, op->old.mode,
					op->old.mtime, t->err);
		else if (t->holds[i] == H_NEW && i == AT_BASE)
			r = dress_moved(&t->place[i], o, op->mode,
					op->new.mtime, t->err);
		else if (t->holds[i] == H_NEW && i == AT_SOURCE && t->back)
			r = dress_for_layer(op, &t->place[i], t->err);
		*is_dressed = *is_dressed || r > 0;
		if (r < 0)
			return fail_for(t, r, "cannot finish");
	}
	*is_dressed = *is_dressed || (t->back && op->source == SOURCE_LAYER);
	return 0;
}

/* What stands against the action, before anything is touched. */
static int refuse(const struct turn *t, int action)
{
	bool changed =
		action == A_CONFLICT ||
		((actions[action].how & TAKES) && is_written_to(t)) ||
		/* What it lay in is gone. */
		((actions[action].how & PUTS) && t->place[AT_BASE].dir < 0);

	/* After a crash it is not known which change came first. */
	if (action == A_STATE || (t->step->is_recovery && changed))
		return fail_for(t, -HB_E_STATE,
				"neither as before nor as after:");
	return changed ? conflict(t) : 0;
}

/* A directory that changes its parent has to be writable itself. */
static int make_movable(struct step *s, const struct place *p,
			const struct object *o, struct hb_error *err)
{
	if (o->type != ENTRY_DIR || (o->mode & USER_WRITE))
		return 0;
	s->is_dressed = true;
	return dress_mode(p, o, o->mode | USER_WRITE, err);
}

/* What the objects need before they can move. */
static int prepare(struct turn *t, int action)
{
	struct step *s = t->step;
	int r;

	for (int i = 0; i < PLACES; i++) {
		r = t->holds[i] == H_OTHER
			    ? 0
			    : make_movable(s, &t->place[i], &t->object[i],
					   t->err);
		if (r < 0)
			return r;
	}
	if (t->back || t->holds[AT_SOURCE] != H_NEW || action == A_DROP_SOURCE)
		return 0;
	r = dress_for_base(s->site, t->op, &t->place[AT_SOURCE],
			   &t->object[AT_SOURCE], &t->place[AT_BASE], t->err);
	s->is_dressed = s->is_dressed || r > 0;
	return r;
}

/*
 * What an action brought out of the base is compared with the plan once more,
 * and returns if it is another.
 */
static int check_arrival(struct turn *t, int did)
{
	int from = actions[did].from, to = actions[did].to;
	int r;

	/* The way without flags looks before it moves the second time. */
	if (!actions[did].returns || (did == A_SWAP && t->step->is_plain))
		return 0;
	r = place_read(&t->place[to], &t->object[to], t->err);
	if (r < 0)
		return r;
	if (is_as_planned(t, t->back ? H_NEW : H_OLD, to) &&
	    (empty_place(t) < 0 || demand_empty(&t->place[to]) == 0))
		return 0;
	r = actions[did].returns(t, to, from);
	return r < 0 ? fail_for(t, r, "cannot return") : conflict(t);
}

/*
 * 0: done, 1: go on.  A certain result of a successful action needs no other
 * look: forward, with flags, and without directories, which have modes to be
 * put right.
 */
static int finish_at_once(const struct turn *t, int did)
{
	int r;

	if (t->back || t->step->is_plain || t->op->old.type == ENTRY_DIR ||
	    t->op->new.type == ENTRY_DIR)
		return 1;
	if (did != A_SWAP)
		return did != A_ENTER && did != A_TAKE && did != A_CLEAR;
	r = move_over(t, AT_SOURCE, AT_UNDO);
	return r < 0 ? fail_for(t, r, "cannot move") : 0;
}

/* After an action.  1: go on, 0: done. */
static int follow(struct turn *t, int did)
{
	int r;

	if (t->op->kind == OP_REMOVE) {
		/* What lay in it is looked for in another one from now on. */
		site_forget(t->step->site);
		return 1;
	}
	/* Going back, that is where it was to come from. */
	if (did == A_WRONG_SWAP || did == A_WRONG_RETURN)
		return t->back ? 1 : conflict(t);
	r = check_arrival(t, did);
	return r < 0 ? r : finish_at_once(t, did);
}

/* One action.  1: go on, 0: done. */
static int advance(struct turn *t)
{
	int action, r;

	r = look(t);
	if (r < 0)
		return r;
	action = choose(t);
	if (action < 0)
		return action;
	if (t->row != SIZE_MAX)
		fault_row(t->row, t->back);
	if (action == A_DONE || action == A_LEFT) {
		if (action == A_LEFT)
			t->step->is_left = t->step->is_recovery;
		return settle(t);
	}
	r = refuse(t, action);
	if (r < 0)
		return r;
	r = prepare(t, action);
	if (r < 0)
		return r;
	r = actions[action].act(t, actions[action].from, actions[action].to);
	/* Between looking and moving a program put one there, or took it. */
	if (r == -EEXIST || r == -ENOENT || r == -ENOTEMPTY)
		return conflict(t);
	if (r < 0)
		return fail_for(t, r, "cannot move");
	return follow(t, action);
}

static int run_turn(struct turn *t)
{
	for (int i = 0; i < STEPS_MAX; i++) {
		int r = advance(t);

		if (r <= 0)
			return r;
	}
	return fail_for(t, -HB_E_STATE, "comes to no end:");
}

/* The whiteout, or the original of a copy, leaves the upper or returns. */
static struct op layer_part(const struct op *op)
{
	return (struct op){ .kind = OP_LAYER,
			    .slot = op->slot,
			    .path = op->path,
			    .old = op->layer };
}

int step_run(struct step *s, const struct op *op, bool back,
	     struct hb_error *err)
{
	const struct op layer = layer_part(op);
	struct turn t = {
		.step = s, .op = op, .back = back, .is_run = true, .err = err
	};
	int r = op->kind == OP_LAYER ? 0 : run_turn(&t);

	if (r < 0 || !(op->effect & OP_LAYER_MOVES))
		return r;
	t.op = &layer;
	return run_turn(&t);
}

int step_leave(struct step *s, const struct op *op, bool back,
	       struct step_left *ret_left, struct hb_error *err)
{
	struct turn t = { .step = s, .op = op, .back = back, .err = err };
	const struct op layer = layer_part(op);
	struct turn upper = t;
	int r;

	r = look(&t);
	if (r < 0)
		return r;
	/* On its way back it had come as far as the layer, and is not of it. */
	if (t.holds[AT_SOURCE] == H_OLD && t.holds[AT_UNDO] == H_NONE &&
	    t.holds[AT_BASE] != H_OLD) {
		r = move_over(&t, AT_SOURCE, AT_UNDO);
		if (r < 0)
			return fail_for(&t, r, "cannot move");
		r = look(&t);
		if (r < 0)
			return r;
	}
	r = settle(&t);
	if (r < 0)
		return r;
	upper.op = &layer;
	upper.err = NULL;
	r = back && (op->effect & OP_LAYER_MOVES) ? run_turn(&upper) : 0;
	/* Then it was not there, or another object has its place. */
	if (r < 0 && r != -HB_E_STATE)
		return r;
	upper.err = err;
	r = look(&upper);
	if (r < 0)
		return r;
	*ret_left = (struct step_left){
		.has_old = t.holds[AT_UNDO] == H_OLD,
		.has_new = t.holds[AT_SOURCE] == H_NEW ||
			   upper.holds[AT_BASE] == H_OLD,
	};
	return 0;
}

/* The end that it is to be brought to, by what only that end has. */
static bool is_there(const struct turn *t)
{
	const enum holds *h = t->holds;

	return t->back ? h[AT_SOURCE] == H_NEW || h[AT_BASE] == H_OLD
		       : h[AT_UNDO] == H_OLD || h[AT_BASE] == H_NEW;
}

static int check_objects(struct turn *t)
{
	int action, r;

	r = look(t);
	if (r < 0)
		return r;
	if ((t->op->identity & OP_SHARES) && t->holds[AT_BASE] == H_OTHER)
		t->holds[AT_BASE] = H_NONE;
	action = choose(t);
	if (action < 0)
		return action;
	if (action == A_DONE || action == A_LEFT)
		return is_there(t) ? 1 : conflict(t);
	/* Where it goes has to exist; it may have been deleted. */
	if (action == A_STATE || action == A_CONFLICT || is_written_to(t) ||
	    (t->op->source != SOURCE_NONE && t->place[AT_SOURCE].dir < 0))
		return conflict(t);
	return 0;
}

int step_check(struct step *s, const struct op *op, bool back,
	       struct hb_error *err)
{
	struct turn t = { .step = s, .op = op, .back = back, .err = err };
	const struct op layer = layer_part(op);
	int r = op->kind == OP_LAYER ? 0 : check_objects(&t);

	if (r != 0 || !(op->effect & OP_LAYER_MOVES))
		return r;
	t.op = &layer;
	r = look(&t);
	if (r < 0)
		return r;
	/* A mark may have frozen what was there. */
	if (t.place[AT_BASE].dir < 0 ||
	    t.holds[AT_BASE] != (back ? H_NONE : H_OLD))
		return conflict(&t);
	return 0;
}
