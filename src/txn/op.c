/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/op.h"

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool object_is(const struct object *a, const struct object *b)
{
	return a->type == b->type && a->type != ENTRY_NONE &&
	       a->ino == b->ino && is_same_time(a->btime, b->btime);
}

static bool is_written_alike(const struct object *a, const struct object *b)
{
	return a->type == ENTRY_DIR ||
	       (a->size == b->size && is_same_time(a->mtime, b->mtime));
}

bool object_is_unchanged(const struct object *a, const struct object *b)
{
	return object_is(a, b) && is_written_alike(a, b);
}

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec
				    : a.tv_nsec > b.tv_nsec;
}

bool op_is_old(const struct op *op, const struct object *o)
{
	const struct object *old = &op->old;

	if (object_is(o, old))
		return true;
	if ((op->flags & OP_REMADE) && object_is(o, &op->new))
		return true;
	/* The new one is a copy of it that may be alike in all but that. */
	if (!(op->flags & OP_RISES) || object_is(o, &op->new) ||
	    o->type != old->type || o->type == ENTRY_NONE ||
	    !is_later(o->btime, old->btime))
		return false;
	return o->ino == old->ino ||
	       ((op->flags & OP_RISES_APART) && is_written_alike(o, old));
}

bool op_is_old_unchanged(const struct op *op, const struct object *o)
{
	return op_is_old(op, o) && is_written_alike(o, &op->old);
}
