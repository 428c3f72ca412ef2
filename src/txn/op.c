/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/op.h"

#include "txn/bytes.h"

#include <errno.h>
#include <string.h>

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

int xattr_list_next(const struct xattr_list *list, size_t *pos,
		    const char **ret_name, const void **ret_value,
		    size_t *ret_size)
{
	const uint8_t *at = (const uint8_t *)list->data + *pos;
	size_t left = list->size - *pos;
	uint32_t name, value;

	if (left == 0)
		return 0;
	if (left < 8)
		return -EBADMSG;
	name = bytes_get32(at);
	value = bytes_get32(at + 4);
	left -= 8;
	/* The name comes with its NUL, which is the only one in it. */
	if (name < 2 || name > left || value > left - name ||
	    memchr(at + 8, '\0', name) != at + 8 + name - 1)
		return -EBADMSG;
	*ret_name = (const char *)at + 8;
	*ret_value = at + 8 + name;
	*ret_size = value;
	*pos += 8 + (size_t)name + value;
	return 1;
}
