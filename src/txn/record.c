/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/record.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/siphash.h"
#include "base/time.h"
#include "tree/bytes.h"
#include "txn/journal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define OBJECT_SIZE ((size_t)64)
#define TAIL	    (32 + 3 * OBJECT_SIZE) /* behind the three objects */
#define FIXED_SIZE  (TAIL + 24)

uint32_t record_sum(const void *bytes, size_t n)
{
	static const struct siphash_key none = { 0, 0 };

	return (uint32_t)siphash(&none, bytes, n);
}

/* clang-format off */
#define OBJECT_FIELDS(X)                                                  \
	X(type, 0, 32) X(mode, 4, 32) X(uid, 8, 32) X(gid, 12, 32)        \
	X(ino, 16, 64) X(size, 24, 64)                                    \
	X(mtime.tv_sec, 32, 64) X(btime.tv_sec, 40, 64)                   \
	X(mtime.tv_nsec, 48, 32) X(btime.tv_nsec, 52, 32)                 \
	X(entries, 56, 64)

#define OP_FIELDS(X)                                                      \
	X(kind, 0, 32) X(source, 4, 32) X(identity, 8, 32)                \
	X(resource, 12, 32) X(slot, 16, 64) X(mode, 24, 32)               \
	X(accepted, 28, 32) X(uid, TAIL, 32) X(gid, TAIL + 4, 32)         \
	X(old_xattrs.size, TAIL + 12, 32) X(new_xattrs.size, TAIL + 16, 32)
/* clang-format on */

static void put_object(uint8_t *p, const struct object *o)
{
	OBJECT_FIELDS(BYTES_PUT)
}

static bool get_object(const uint8_t *p, struct object *o)
{
	OBJECT_FIELDS(BYTES_GET)
	return o->type < ENTRY_TYPES && o->mode <= 07777 &&
	       time_is_valid(o->mtime) && time_is_valid(o->btime) &&
	       (o->entries == 0 || o->type == ENTRY_FILE ||
		o->type == ENTRY_DIR);
}

int record_encode(const struct op *op, struct buf *out)
{
	uint8_t p[FIXED_SIZE] = { 0 };
	const struct op *o = op;
	size_t path = strlen(op->path);

	OP_FIELDS(BYTES_PUT)
	bytes_put32(p + 8, op->identity | op->effect);
	bytes_put32(p + TAIL + 8, (uint32_t)path);
	put_object(p + 32, &op->old);
	put_object(p + 32 + OBJECT_SIZE, &op->new);
	put_object(p + 32 + 2 * OBJECT_SIZE, &op->layer);

	/* Lengths that do not fit into 32 bits do not fit into a record. */
	if (path > JOURNAL_PATH_MAX ||
	    op->old_xattrs.size > JOURNAL_RECORD_MAX ||
	    op->new_xattrs.size > JOURNAL_RECORD_MAX)
		return buf_fail(out, -E2BIG);
	(void)buf_add(out, p, sizeof(p));
	(void)buf_add(out, op->path, path + 1);
	(void)buf_add(out, op->old_xattrs.data, op->old_xattrs.size);
	return buf_add(out, op->new_xattrs.data, op->new_xattrs.size);
}

/* Relative, without empty, "." and ".." components; "" is the root. */
static bool is_path_fine(const char *path, size_t n)
{
	const char *pos = path, *next = path;
	struct path_part part;

	if (path[n] != '\0')
		return false;
	while (path_next(&pos, &part)) {
		if (part.s != next || part.n > NAME_MAX ||
		    path_part_is(part, ".."))
			return false;
		next = pos + 1;
	}
	return next == path + n + (n > 0);
}

int record_decode(const void *payload, size_t size, uint32_t n_resources,
		  struct op *ret_op)
{
	const uint8_t *p = payload;
	struct op op = { 0 }, *o = &op;
	uint64_t path;

	if (size < FIXED_SIZE + 1)
		return -EBADMSG;
	OP_FIELDS(BYTES_GET)
	path = bytes_get32(p + TAIL + 8);
	if (path > JOURNAL_PATH_MAX ||
	    FIXED_SIZE + path + 1 + op.old_xattrs.size + op.new_xattrs.size !=
		    size ||
	    op.accepted >= CONFLICT_END || bytes_get32(p + TAIL + 20) != 0)
		return -EBADMSG;
	op.effect = op.identity & ~(unsigned)OP_IDENTITY_ALL;
	op.identity &= OP_IDENTITY_ALL;
	op.path = (const char *)p + FIXED_SIZE;
	op.old_xattrs.data = op.path + path + 1;
	op.new_xattrs.data = op.path + path + 1 + op.old_xattrs.size;
	if (op.resource >= n_resources || op.mode > 07777 ||
	    !is_path_fine(op.path, (size_t)path) ||
	    !get_object(p + 32, &op.old) ||
	    !get_object(p + 32 + OBJECT_SIZE, &op.new) ||
	    !get_object(p + 32 + 2 * OBJECT_SIZE, &op.layer) ||
	    !xattr_list_is_whole(&op.old_xattrs) ||
	    !xattr_list_is_whole(&op.new_xattrs) || !op_is_legal(&op))
		return -EBADMSG;
	*ret_op = op;
	return 0;
}
