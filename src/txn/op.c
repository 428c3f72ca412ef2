/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/op.h"

#include "base/time.h"

#include <assert.h>

/*
 * Kinds of operations
 * -------------------
 *
 * A row for each says which objects it has and where the new one comes from.
 * It says which identities and effects it may have, and which effects it needs.
 * It says what becomes of the object in the base.
 */
enum has {
	HAS_NONE,
	HAS_ANY,
	HAS_DIR
};

enum in_base {
	NOTHING, /* it is about the layer alone */
	MOVED,	 /* with the new one, the old one to the undo slot */
	DRESSED, /* stays, and gets attributes */
	REMOVED,
	WRITTEN, /* stays, and gets another content */
};

#define NONE   (1U << SOURCE_NONE)
#define LAYER  (1U << SOURCE_LAYER)
#define STAGED (1U << SOURCE_STAGED)
#define APART  (OP_RISES | OP_RISES_APART)
#define MARKS  (OP_OPAQUE | OP_ORIGIN)
#define OF_DIR (OP_IN_NEW | OP_KEEP_TIME | OP_XATTRS | OP_IN_UPPER)
#define MOVES  OP_LAYER_MOVES

/* clang-format off */
#define KINDS(X)                                                              \
	/* kind        old       new       sources         identity              may                                 needs  base */ \
	X(OP_ADD,       HAS_NONE, HAS_ANY,  LAYER | STAGED, APART | OP_SHARES,    MOVES | MARKS,                        0,     MOVED) \
	X(OP_REPLACE,   HAS_ANY,  HAS_ANY,  LAYER | STAGED, APART,                MOVES | MARKS | OP_LINKED | OP_UPPER, 0,     MOVED)  \
	X(OP_DELETE,    HAS_ANY,  HAS_NONE, NONE,           APART,                MOVES | OP_LINKED,                    0,     MOVED)  \
	X(OP_DIRECTORY, HAS_DIR,  HAS_DIR,  NONE,           OP_RISES | OP_REMADE, OF_DIR,                               0,     DRESSED) \
	X(OP_LAYER,     HAS_NONE, HAS_NONE, NONE,           0,                    0,                                    MOVES, NOTHING) \
	X(OP_REMOVE,    HAS_DIR,  HAS_DIR,  STAGED,         OP_RISES | OP_SHARES, MOVES,                                0,     REMOVED) \
	X(OP_DATABASE,  HAS_ANY,  HAS_ANY,  STAGED,         APART,                0,                                    0,     WRITTEN)

#define ROW(kind, old, new, sources, identity, may, needs, base) \
	[kind] = { old, new, sources, identity, may, needs, base },
#define OR_IDENTITY(kind, old, new, sources, identity, may, needs, base) | (identity)
#define OR_EFFECT(kind, old, new, sources, identity, may, needs, base) | (may) | (needs)
#define OR_KIND(kind, old, new, sources, identity, may, needs, base) | (1 << (kind))
/* clang-format on */

static const struct kind {
	enum has old, new;
	unsigned sources;    /* 1 << enum op_source */
	unsigned identity;   /* enum op_identity */
	unsigned may, needs; /* enum op_effect */
	enum in_base base;
} kinds[OP_KINDS] = { KINDS(ROW) };

static_assert((0 KINDS(OR_KIND)) == (1 << OP_KINDS) - 2, "each kind has a row");
static_assert((0 KINDS(OR_IDENTITY)) == OP_IDENTITY_ALL,
	      "each identity has a kind");
static_assert((0 KINDS(OR_EFFECT)) == OP_EFFECT_ALL, "each effect has a kind");
static_assert((OP_IDENTITY_ALL & OP_EFFECT_ALL) == 0,
	      "identity and effect share a word of the record");

/* One flag asks for others, or rules them out; of either field. */
static const struct {
	unsigned flag, needs, forbids;
} pairs[] = {
	{ OP_RISES_APART, OP_RISES, 0 },
	{ OP_REMADE, 0, OP_IN_NEW },
	{ OP_IN_UPPER, 0, OP_IN_NEW | OP_XATTRS | OP_REMADE },
};

static bool has(const struct object *o, enum has what)
{
	if (what == HAS_ANY)
		return o->type != ENTRY_NONE;
	return o->type == (what == HAS_DIR ? ENTRY_DIR : ENTRY_NONE);
}

static bool are_flags_legal(const struct op *op, const struct kind *kind)
{
	unsigned all = op->identity | op->effect;

	if ((op->identity & ~kind->identity) ||
	    (op->effect & ~(kind->may | kind->needs)) || !op_has_effect(op))
		return false;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if ((all & pairs[i].flag) &&
		    ((all & pairs[i].needs) != pairs[i].needs ||
		     (all & pairs[i].forbids)))
			return false;
	return true;
}

bool op_is_legal(const struct op *op)
{
	const struct kind *kind = &kinds[op->kind < OP_KINDS ? op->kind : 0];
	bool is_root = op->path[0] == '\0';

	if (op->source >= SOURCES || !(kind->sources & (1U << op->source)) ||
	    !has(&op->old, kind->old) || !has(&op->new, kind->new) ||
	    !are_flags_legal(op, kind))
		return false;
	if ((op->effect & OP_LAYER_MOVES) && op->layer.type == ENTRY_NONE)
		return false;
	if ((op->effect & OP_IN_UPPER) && op->layer.type != ENTRY_DIR)
		return false;
	if (op->accepted != CONFLICT_NONE && !op_is_in_base(op))
		return false;
	/* The root is never moved, and the upper as a whole has no path. */
	if (op->effect & OP_UPPER)
		return is_root;
	return !is_root || op->kind == OP_DIRECTORY;
}

bool op_moves(const struct op *op)
{
	return kinds[op->kind].base == MOVED;
}

bool op_dresses(const struct op *op)
{
	return kinds[op->kind].base == DRESSED;
}

bool op_is_written(const struct op *op)
{
	return kinds[op->kind].base == WRITTEN;
}

bool op_is_in_base(const struct op *op)
{
	return kinds[op->kind].base != NOTHING &&
	       !(op->effect & (OP_UPPER | OP_IN_UPPER));
}

bool op_has_effect(const struct op *op)
{
	unsigned needs = kinds[op->kind].needs;

	return (op->effect & needs) == needs;
}

bool object_is(const struct object *a, const struct object *b)
{
	return a->type == b->type && a->type != ENTRY_NONE &&
	       a->ino == b->ino && time_is_same(a->btime, b->btime);
}

static bool is_written_alike(const struct object *a, const struct object *b)
{
	return a->type == ENTRY_DIR ||
	       (a->size == b->size && time_is_same(a->mtime, b->mtime));
}

bool object_is_unchanged(const struct object *a, const struct object *b)
{
	return object_is(a, b) && is_written_alike(a, b);
}

bool op_is_old(const struct op *op, const struct object *o)
{
	const struct object *old = &op->old;

	if (object_is(o, old))
		return true;
	if ((op->identity & OP_REMADE) && object_is(o, &op->new))
		return true;
	/* The new one is a copy of it that may be alike in all but that. */
	if (!(op->identity & OP_RISES) || object_is(o, &op->new) ||
	    o->type != old->type || o->type == ENTRY_NONE ||
	    !time_is_before(old->btime, o->btime))
		return false;
	return o->ino == old->ino ||
	       ((op->identity & OP_RISES_APART) && is_written_alike(o, old));
}

bool op_is_old_unchanged(const struct op *op, const struct object *o)
{
	return op_is_old(op, o) && is_written_alike(o, &op->old);
}
