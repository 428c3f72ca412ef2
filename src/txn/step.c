/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/step.h"

#include "base/error.h"
#include "base/mode.h"
#include "base/quote.h"
#include "sys/durable.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "tree/tree.h"
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

enum action {
	A_STATE = 0, /* not one of ours */
	A_DONE,
	A_LEFT, /* done, and then another program put its own object there */
	A_CONFLICT,
	A_SWAP,	    /* base <-> source, or what stands for it */
	A_PARK,	    /* source -> undo */
	A_UNPARK,   /* undo -> source */
	A_ENTER,    /* source -> base, where nothing may be */
	A_RETURN,   /* undo -> base, where nothing may be */
	A_GIVE,	    /* base -> source */
	A_TAKE,	    /* base -> undo */
	A_OVER_NEW, /* source -> base, over the old one, which has a 2nd name */
	A_OVER_OLD, /* undo -> base, likewise over the new one */
	A_REMOVE,   /* base, an empty directory */
	A_STORE,    /* base -> source, an empty directory */
	A_DROP_BASE, /* a second name */
	A_DROP_SOURCE,
	A_DROP_UNDO,
	A_WRONG_SWAP,	/* another came back: let it return, then conflict */
	A_WRONG_RETURN, /* likewise from the undo slot */
};

/* The call that an action is. */
enum way {
	W_NONE,
	W_MOVE,
	W_KEEP, /* a move to where nothing may be */
	W_SWAP,
	W_UNPARK, /* a move, or what stands for a swap */
	W_EXCHANGE,
	W_DROP,
	W_REMOVE,
	W_STORE,
};

static const struct {
	enum way way;
	int from, to;
	bool takes; /* the base's object leaves, or that is its first step */
	bool puts;  /* the base gets a name that it does not have */
} actions[] = {
	[A_SWAP] = { W_SWAP, .takes = true },
	[A_PARK] = { W_MOVE, AT_SOURCE, AT_UNDO },
	[A_UNPARK] = { W_UNPARK, AT_UNDO, AT_SOURCE, .takes = true },
	[A_ENTER] = { W_KEEP, AT_SOURCE, AT_BASE, .puts = true },
	[A_RETURN] = { W_KEEP, AT_UNDO, AT_BASE, .puts = true },
	[A_GIVE] = { W_MOVE, AT_BASE, AT_SOURCE, .takes = true },
	[A_TAKE] = { W_MOVE, AT_BASE, AT_UNDO, .takes = true },
	[A_OVER_NEW] = { W_MOVE, AT_SOURCE, AT_BASE, .takes = true },
	[A_OVER_OLD] = { W_MOVE, AT_UNDO, AT_BASE, .takes = true },
	[A_REMOVE] = { W_REMOVE },
	[A_STORE] = { W_STORE },
	[A_DROP_BASE] = { W_DROP, AT_BASE },
	[A_DROP_SOURCE] = { W_DROP, AT_SOURCE },
	[A_DROP_UNDO] = { W_DROP, AT_UNDO },
	[A_WRONG_SWAP] = { W_EXCHANGE, AT_BASE, AT_SOURCE },
	[A_WRONG_RETURN] = { W_KEEP, AT_UNDO, AT_BASE, .puts = true },
};

/* What else a row asks about the objects. */
enum guard {
	/* A directory cannot be renamed over what is a second name. */
	G_OLD_DIR = 1 << 0,
	G_NEW_DIR = 1 << 1,
	/* Killed between moving the old object and looking at it again. */
	G_WRITTEN = 1 << 2,
	/* Killed between storing a directory and looking into it: store(). */
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
	{ OP_REPLACE, H_NEW, H_NONE, H_OLD, 0, 0, A_DONE, A_UNPARK },
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
	{ OP_ADD, H_NEW, H_NONE, H_NONE, 0, 0, A_DONE, A_GIVE },
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
};
/* clang-format on */

/* More than any way through the table. */
#define STEPS_MAX 16

struct view {
	struct place place[PLACES];
	struct object object[PLACES];
	enum holds holds[PLACES];
};

static int fail_for(const struct op *op, int r, const char *what,
		    struct hb_error *err)
{
	const char *path = op->effect & OP_UPPER ? "upper" : op->path;

	return hb_fail(err, r, "%s %s", what, quoted(path));
}

static enum holds holds(const struct object *o, const struct op *op)
{
	if (o->type == ENTRY_NONE)
		return H_NONE;
	if (op_is_old(op, o))
		return H_OLD;
	return object_is(o, &op->new) ? H_NEW : H_OTHER;
}

static int look(struct step *s, const struct op *op, struct view *v,
		struct hb_error *err)
{
	int r;

	r = site_base(s->site, op, &v->place[AT_BASE], err);
	if (r < 0)
		return r;
	r = site_source(s->site, op, &v->place[AT_SOURCE], err);
	if (r < 0)
		return r;
	site_undo(s->site, op, &v->place[AT_UNDO]);
	for (int i = 0; i < PLACES; i++) {
		r = place_read(&v->place[i], &v->object[i], err);
		if (r < 0)
			return fail_for(op, r, "cannot look at", err);
		v->holds[i] = holds(&v->object[i], op);
	}
	return 0;
}

/* 1: the guard holds.  G_FILLED is asked on the way forward alone. */
static int holds_guard(const struct op *op, const struct view *v, bool back,
		       unsigned guard, struct hb_error *err)
{
	const struct place *source = &v->place[AT_SOURCE];
	int r;

	switch (guard) {
	case G_OLD_DIR:
		return op->old.type == ENTRY_DIR;
	case G_NEW_DIR:
		return op->new.type == ENTRY_DIR;
	case G_WRITTEN:
		return !op_is_old_unchanged(op, &v->object[AT_SOURCE]);
	case G_FILLED:
		if (back)
			return 0;
		r = tree_is_empty(source->dir, source->name, TREE_OURS, err);
		return r < 0 ? r : !r;
	default:
		return 0;
	}
}

/* 1: the row is about what lies there. */
static int fits(const struct row *row, const struct op *op,
		const struct view *v, bool back, struct hb_error *err)
{
	int r;

	if (row->kind != op->kind || row->base != v->holds[AT_BASE] ||
	    row->source != v->holds[AT_SOURCE] ||
	    row->undo != v->holds[AT_UNDO])
		return 0;
	if (!row->needs && !row->forbids)
		return 1;
	r = holds_guard(op, v, back, row->needs | row->forbids, err);
	return r < 0 ? r : r == (row->needs != 0);
}

/* The row, or NULL where none fits. */
static int choose(const struct op *op, const struct view *v, bool back,
		  const struct row **ret_row, struct hb_error *err)
{
	*ret_row = NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int r = fits(&rows[i], op, v, back, err);

		if (r < 0)
			return r;
		if (r == 1) {
			*ret_row = &rows[i];
			return 0;
		}
	}
	return 0;
}

static enum action action_of(const struct row *row, bool back)
{
	if (!row)
		return A_STATE;
	return back ? row->back : row->forward;
}

size_t step_rows(void)
{
	return sizeof(rows) / sizeof(rows[0]);
}

static bool is_flag_unknown(int r)
{
	return r == -EINVAL || r == -ENOSYS || r == -EOPNOTSUPP;
}

static int move(const struct view *v, int from, int to, unsigned flags)
{
	return sys_renameat2(v->place[from].dir, v->place[from].name,
			     v->place[to].dir, v->place[to].name, flags);
}

static int link_to(const struct view *v, int from, int to)
{
	return sys_linkat(v->place[from].dir, v->place[from].name,
			  v->place[to].dir, v->place[to].name);
}

static int drop(const struct view *v, int which)
{
	return sys_unlinkat(v->place[which].dir, v->place[which].name, 0);
}

/*
 * To a place where nothing may be.  Without the flag a second name does it,
 * which fails if the first is taken.  Then only a directory is at the mercy of
 * a program that makes an empty directory of the same name in between.
 */
static int move_keep(struct step *s, const struct view *v, int from, int to)
{
	int r;

	if (!s->is_plain) {
		r = move(v, from, to, RENAME_KEEP);
		if (!is_flag_unknown(r))
			return r;
		s->is_plain = true;
	}
	if (v->object[from].type == ENTRY_DIR)
		return move(v, from, to, 0);
	r = link_to(v, from, to);
	return r == -EPERM || r == -EMLINK ? move(v, from, to, 0) : r;
}

/*
 * Old and new change places.  Without the flag: a second name for what leaves
 * and the other one over it.  Directories take two renames, with the journal to
 * cover the moment between.  The table takes over after the first call.
 */
static int swap(struct step *s, const struct view *v, bool back)
{
	int aside = back ? AT_SOURCE : AT_UNDO;
	bool is_dir = v->object[AT_BASE].type == ENTRY_DIR ||
		      v->object[AT_SOURCE].type == ENTRY_DIR ||
		      v->object[AT_UNDO].type == ENTRY_DIR;
	int r;

	if (!s->is_plain) {
		r = move(v, AT_BASE, AT_SOURCE, RENAME_SWAP);
		if (!is_flag_unknown(r))
			return r;
		s->is_plain = true;
	}
	/* Going back, the old one has to be out of the source's place first. */
	if (back && v->holds[AT_SOURCE] != H_NONE)
		return move(v, AT_SOURCE, AT_UNDO, 0);
	r = is_dir ? -EPERM : link_to(v, AT_BASE, aside);
	return r == -EPERM || r == -EMLINK ? move(v, AT_BASE, aside, 0) : r;
}

/* A program that put something into it meanwhile has it back. */
static int store(struct step *s, const struct view *v)
{
	const struct place *from = &v->place[AT_BASE];
	const struct place *to = &v->place[AT_SOURCE];
	int r;

	/* Most are found before anything moves. */
	r = tree_is_empty(from->dir, from->name, TREE_OURS, NULL);
	if (r != 1)
		return r < 0 ? r : -ENOTEMPTY;
	r = move(v, AT_BASE, AT_SOURCE, 0);
	if (r < 0)
		return r;
	r = tree_is_empty(to->dir, to->name, TREE_OURS, NULL);
	if (r == 1)
		return 0;
	(void)move_keep(s, v, AT_SOURCE, AT_BASE);
	return r < 0 ? r : -ENOTEMPTY;
}

/* A directory that changes its parent has to be writable itself. */
static int make_movable(struct step *s, struct view *v, struct hb_error *err)
{
	for (int i = 0; i < PLACES; i++) {
		const struct object *o = &v->object[i];
		int r;

		if (o->type != ENTRY_DIR || (o->mode & USER_WRITE) ||
		    v->holds[i] == H_OTHER)
			continue;
		s->is_dressed = true;
		r = dress_mode(&v->place[i], o, o->mode | USER_WRITE, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int act(struct step *s, const struct view *v, enum action action,
	       bool back)
{
	int from = actions[action].from, to = actions[action].to;
	int r;

	switch (actions[action].way) {
	case W_MOVE:
		return move(v, from, to, 0);
	case W_KEEP:
		return move_keep(s, v, from, to);
	case W_SWAP:
		return swap(s, v, back);
	case W_UNPARK:
		return s->is_plain ? swap(s, v, back) : move(v, from, to, 0);
	case W_EXCHANGE:
		/* Without the flag it was not we who left this. */
		r = move(v, from, to, RENAME_SWAP);
		return is_flag_unknown(r) ? -HB_E_STATE : r;
	case W_DROP:
		return drop(v, from);
	case W_REMOVE:
		return sys_unlinkat(v->place[AT_BASE].dir,
				    v->place[AT_BASE].name, AT_REMOVEDIR);
	case W_STORE:
		return store(s, v);
	case W_NONE:
	default:
		return -EINVAL;
	}
}

static bool is_as_planned(const struct op *op, enum holds h,
			  const struct object *o)
{
	return h == H_OLD ? op_is_old_unchanged(op, o)
			  : object_is_unchanged(o, &op->new);
}

/* A program wrote to the object that is about to leave the base. */
static bool is_written_to(const struct op *op, const struct view *v)
{
	enum holds h = v->holds[AT_BASE];

	return (h == H_OLD || h == H_NEW) &&
	       !is_as_planned(op, h, &v->object[AT_BASE]);
}

/* Gives both objects the attributes of the side we are on. */
static int settle(struct step *s, const struct op *op, struct view *v,
		  bool back, struct hb_error *err)
{
	for (int i = 0; i < PLACES; i++) {
		const struct object *o = &v->object[i];
		int r = 0;

		/* What returns to it is still to come, and its own attributes.
		 */
		if (v->holds[i] == H_OLD && op->kind == OP_REMOVE)
			continue;
		if (v->holds[i] == H_OLD && o->type == ENTRY_DIR)
			r = dress_moved(&v->place[i], o, op->old.mode,
					op->old.mtime, err);
		else if (v->holds[i] == H_NEW && i == AT_BASE)
			r = dress_moved(&v->place[i], o, op->mode,
					op->new.mtime, err);
		else if (v->holds[i] == H_NEW && i == AT_SOURCE && back)
			r = dress_for_layer(op, &v->place[i], err);
		s->is_dressed = s->is_dressed || r > 0;
		if (r < 0)
			return fail_for(op, r, "cannot finish", err);
	}
	s->is_dressed = s->is_dressed || (back && op->source == SOURCE_LAYER);
	return 0;
}

/*
 * What an action brought out of the base is compared with the plan once more.
 * 1: it is not it, and it has been returned.
 */
static int check_arrival(struct step *s, const struct op *op, enum action did,
			 struct view *v, bool back, struct hb_error *err)
{
	int at = did == A_TAKE ? AT_UNDO : AT_SOURCE;
	enum holds want = back ? H_NEW : H_OLD;
	int r;

	if (did != A_SWAP && did != A_TAKE && did != A_GIVE)
		return 0;
	/* The way without flags looks before it moves the second time. */
	if (did == A_SWAP && s->is_plain)
		return 0;
	r = place_read(&v->place[at], &v->object[at], err);
	if (r < 0)
		return r;
	if (is_as_planned(op, want, &v->object[at]))
		return 0;
	if (did == A_SWAP)
		r = move(v, AT_BASE, AT_SOURCE, RENAME_SWAP);
	else
		r = move_keep(s, v, at, AT_BASE);
	return r < 0 ? fail_for(op, r, "cannot return", err) : 1;
}

/*
 * A certain result of a successful action needs no other look: forward, with
 * flags, and without directories, which have modes to be put right.
 */
static int finish_at_once(struct step *s, const struct op *op, enum action did,
			  struct view *v, bool back, struct hb_error *err)
{
	int r;

	if (back || s->is_plain || op->old.type == ENTRY_DIR ||
	    op->new.type == ENTRY_DIR)
		return 1;
	if (did == A_ENTER && op->kind == OP_ADD)
		return 0;
	if (did == A_TAKE)
		return 0;
	if (did != A_SWAP)
		return 1;
	r = move(v, AT_SOURCE, AT_UNDO, 0);
	return r < 0 ? fail_for(op, r, "cannot move", err) : 0;
}

static int conflict(const struct op *op, struct hb_error *err)
{
	return fail_for(op, -HB_E_CONFLICT, "meanwhile changed:", err);
}

/* What stands against the action, before anything is touched. */
static int refuse(const struct step *s, const struct op *op,
		  const struct view *v, enum action action,
		  struct hb_error *err)
{
	bool changed = action == A_CONFLICT ||
		       (actions[action].takes && is_written_to(op, v)) ||
		       /* What it lay in is gone. */
		       (actions[action].puts && v->place[AT_BASE].dir < 0);

	/* After a crash it is not known which change came first. */
	if (action == A_STATE || (s->is_recovery && changed))
		return fail_for(op, -HB_E_STATE,
				"neither as before nor as after:", err);
	return changed ? conflict(op, err) : 0;
}

/* What the objects need before they can move. */
static int prepare(struct step *s, const struct op *op, struct view *v,
		   enum action action, bool back, struct hb_error *err)
{
	int r = make_movable(s, v, err);

	if (r < 0 || back || v->holds[AT_SOURCE] != H_NEW ||
	    action == A_DROP_SOURCE)
		return r;
	r = dress_for_base(s->site, op, &v->place[AT_SOURCE],
			   &v->object[AT_SOURCE], &v->place[AT_BASE], err);
	s->is_dressed = s->is_dressed || r > 0;
	return r;
}

/* After an action.  1: go on, 0: done. */
static int follow(struct step *s, const struct op *op, enum action did,
		  struct view *v, bool back, struct hb_error *err)
{
	int r;

	if (op->kind == OP_REMOVE) {
		/* What lay in it is looked for in another one from now on. */
		site_forget(s->site);
		return 1;
	}
	/* Going back, that is where it was to come from. */
	if (did == A_WRONG_SWAP || did == A_WRONG_RETURN)
		return back ? 1 : conflict(op, err);
	r = check_arrival(s, op, did, v, back, err);
	if (r < 0)
		return r;
	return r == 1 ? conflict(op, err)
		      : finish_at_once(s, op, did, v, back, err);
}

/* One action.  1: go on, 0: done. */
static int advance(struct step *s, const struct op *op, bool back,
		   struct hb_error *err)
{
	const struct row *row;
	enum action action;
	struct view v;
	int r;

	r = look(s, op, &v, err);
	if (r < 0)
		return r;
	r = choose(op, &v, back, &row, err);
	if (r < 0)
		return r;
	if (row)
		fault_row((size_t)(row - rows), back);
	action = action_of(row, back);
	if (action == A_DONE || action == A_LEFT) {
		s->is_left = s->is_recovery && action == A_LEFT;
		return settle(s, op, &v, back, err);
	}
	r = refuse(s, op, &v, action, err);
	if (r < 0)
		return r;
	r = prepare(s, op, &v, action, back, err);
	if (r < 0)
		return r;
	r = act(s, &v, action, back);
	/* Between looking and moving a program put one there, or took it. */
	if (r == -EEXIST || r == -ENOENT || r == -ENOTEMPTY)
		return conflict(op, err);
	if (r < 0)
		return fail_for(op, r, "cannot move", err);
	return follow(s, op, action, &v, back, err);
}

/* A directory that changes its parent has to be writable itself. */
static int move_open(const struct place *from, const struct object *o,
		     const struct place *to, struct object *ret,
		     struct hb_error *err)
{
	int r = 0;

	if (o->type == ENTRY_DIR && !(o->mode & USER_WRITE))
		r = dress_mode(from, o, o->mode | USER_WRITE, err);
	if (r < 0)
		return r;
	r = sys_renameat2(from->dir, from->name, to->dir, to->name, 0);
	return r < 0 ? r : place_read(to, ret, err);
}

/* The whiteout, or the original of a copy, leaves the upper or returns. */
static int move_layer(struct step *s, const struct op *op, bool back,
		      struct hb_error *err)
{
	struct place p[2];
	struct object o[2];
	int from = back ? 1 : 0, to = back ? 0 : 1;
	int r;

	if (!(op->effect & OP_LAYER_MOVES))
		return 0;
	r = site_upper(s->site, op, &p[0], err);
	if (r < 0)
		return r;
	site_layer_undo(s->site, op, &p[1]);
	for (int i = 0; i < 2; i++) {
		r = place_read(&p[i], &o[i], err);
		if (r < 0)
			return r;
	}
	if (!object_is(&o[to], &op->layer)) {
		if (!object_is(&o[from], &op->layer) ||
		    o[to].type != ENTRY_NONE || p[to].dir < 0)
			return fail_for(op, -HB_E_STATE,
					"not where it was in the layer:", err);
		r = move_open(&p[from], &o[from], &p[to], &o[to], err);
		if (r < 0)
			return fail_for(op, r, "cannot move in the layer", err);
	}
	return o[to].type == ENTRY_DIR
		       ? dress_mode(&p[to], &o[to], op->layer.mode, err)
		       : 0;
}

int step_run(struct step *s, const struct op *op, bool back,
	     struct hb_error *err)
{
	for (int i = 0; i < STEPS_MAX; i++) {
		int r = op->kind == OP_LAYER ? 0 : advance(s, op, back, err);

		if (r < 0)
			return r;
		if (r == 0)
			return move_layer(s, op, back, err);
	}
	return fail_for(op, -HB_E_STATE, "comes to no end:", err);
}

int step_leave(struct step *s, const struct op *op, bool back,
	       struct step_left *ret_left, struct hb_error *err)
{
	struct view v = { 0 };
	struct place p;
	struct object o;
	int r;

	r = look(s, op, &v, err);
	if (r < 0)
		return r;
	/* On its way back it had come as far as the layer, and is not of it. */
	if (v.holds[AT_SOURCE] == H_OLD && v.holds[AT_UNDO] == H_NONE &&
	    v.holds[AT_BASE] != H_OLD) {
		r = move(&v, AT_SOURCE, AT_UNDO, 0);
		if (r < 0)
			return fail_for(op, r, "cannot move", err);
		r = look(s, op, &v, err);
		if (r < 0)
			return r;
	}
	r = settle(s, op, &v, back, err);
	if (r < 0)
		return r;
	r = back ? move_layer(s, op, true, NULL) : 0;
	/* Then it was not there, or another object has its place. */
	if (r < 0 && r != -HB_E_STATE)
		return r;
	r = site_upper(s->site, op, &p, err);
	if (r < 0)
		return r;
	r = place_read(&p, &o, err);
	if (r < 0)
		return r;
	*ret_left = (struct step_left){
		.has_old = v.holds[AT_UNDO] == H_OLD,
		.has_new = v.holds[AT_SOURCE] == H_NEW ||
			   object_is(&o, &op->layer),
	};
	return 0;
}

/* The end that it is to be brought to, by what only that end has. */
static bool is_there(const struct view *v, bool back)
{
	return back ? v->holds[AT_SOURCE] == H_NEW || v->holds[AT_BASE] == H_OLD
		    : v->holds[AT_UNDO] == H_OLD || v->holds[AT_BASE] == H_NEW;
}

int step_check(struct step *s, const struct op *op, bool back,
	       struct hb_error *err)
{
	const struct row *row = NULL;
	enum action action;
	struct object o = { 0 };
	struct place p = { .dir = -1 };
	struct view v = { 0 };
	int r;

	r = op->kind == OP_LAYER ? 0 : look(s, op, &v, err);
	if (r < 0)
		return r;
	if ((op->identity & OP_SHARES) && v.holds[AT_BASE] == H_OTHER)
		v.holds[AT_BASE] = H_NONE;
	if (op->kind != OP_LAYER) {
		r = choose(op, &v, back, &row, err);
		if (r < 0)
			return r;
		action = action_of(row, back);
		if (action == A_LEFT)
			action = A_DONE;
		if (action == A_DONE && is_there(&v, back))
			return 1;
		if (action == A_STATE || action == A_CONFLICT ||
		    action == A_DONE || is_written_to(op, &v))
			return conflict(op, err);
		/* Where it goes has to exist; it may have been deleted. */
		if (op->source != SOURCE_NONE && v.place[AT_SOURCE].dir < 0)
			return conflict(op, err);
	}
	if (!(op->effect & OP_LAYER_MOVES))
		return 0;
	r = site_upper(s->site, op, &p, err);
	if (r < 0)
		return r;
	r = place_read(&p, &o, err);
	if (r < 0)
		return r;
	/* A mark may have frozen what was there. */
	if (p.dir < 0 ||
	    (back ? o.type != ENTRY_NONE : !object_is(&o, &op->layer)))
		return conflict(op, err);
	return 0;
}
