/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/record.h"

#include "base/buf.h"
#include "base/siphash.h"
#include "tree/bytes.h"
#include "txn/journal.h"

#include <errno.h>
#include <string.h>

#define OBJECT_SIZE ((size_t)64)
#define FIXED_SIZE  (32 + 3 * OBJECT_SIZE + 24)

uint32_t record_sum(const void *bytes, size_t n)
{
	static const struct siphash_key none = { 0, 0 };

	return (uint32_t)siphash(&none, bytes, n);
}

static void put_object(uint8_t *p, const struct object *o)
{
	memset(p, 0, OBJECT_SIZE);
	bytes_put32(p, (uint32_t)o->type);
	bytes_put32(p + 4, o->mode);
	bytes_put32(p + 8, o->uid);
	bytes_put32(p + 12, o->gid);
	bytes_put64(p + 16, o->ino);
	bytes_put64(p + 24, o->size);
	bytes_put64(p + 32, (uint64_t)o->mtime.tv_sec);
	bytes_put64(p + 40, (uint64_t)o->btime.tv_sec);
	bytes_put32(p + 48, (uint32_t)o->mtime.tv_nsec);
	bytes_put32(p + 52, (uint32_t)o->btime.tv_nsec);
	bytes_put64(p + 56, o->entries);
}

static int get_object(const uint8_t *p, struct object *o)
{
	uint32_t type = bytes_get32(p), mode = bytes_get32(p + 4);

	if (type >= ENTRY_TYPES || mode > 07777 ||
	    bytes_get32(p + 48) > 999999999 ||
	    bytes_get32(p + 52) > 999999999 ||
	    (bytes_get64(p + 56) != 0 && type != ENTRY_FILE))
		return -EBADMSG;
	*o = (struct object){
		.type = (enum entry_type)type,
		.mode = mode,
		.uid = bytes_get32(p + 8),
		.gid = bytes_get32(p + 12),
		.ino = bytes_get64(p + 16),
		.size = bytes_get64(p + 24),
		.mtime = { .tv_sec = (time_t)(int64_t)bytes_get64(p + 32),
			   .tv_nsec = (long)bytes_get32(p + 48) },
		.btime = { .tv_sec = (time_t)(int64_t)bytes_get64(p + 40),
			   .tv_nsec = (long)bytes_get32(p + 52) },
		.entries = bytes_get64(p + 56),
	};
	return 0;
}

int record_encode(const struct op *op, struct buf *out)
{
	uint8_t fixed[FIXED_SIZE] = { 0 };
	uint8_t *p = fixed;
	size_t path = strlen(op->path);

	bytes_put32(p, (uint32_t)op->kind);
	bytes_put32(p + 4, (uint32_t)op->source);
	bytes_put32(p + 8, op->identity | op->effect);
	bytes_put32(p + 12, op->resource);
	bytes_put64(p + 16, op->slot);
	bytes_put32(p + 24, op->mode);
	bytes_put32(p + 28, (uint32_t)op->accepted);
	p += 32;
	put_object(p, &op->old);
	put_object(p + OBJECT_SIZE, &op->new);
	put_object(p + 2 * OBJECT_SIZE, &op->layer);
	p += 3 * OBJECT_SIZE;
	bytes_put32(p, op->uid);
	bytes_put32(p + 4, op->gid);
	bytes_put32(p + 8, (uint32_t)path);
	bytes_put32(p + 12, (uint32_t)op->old_xattrs.size);
	bytes_put32(p + 16, (uint32_t)op->new_xattrs.size);

	/* Lengths that do not fit into 32 bits do not fit into a record. */
	if (path > JOURNAL_PATH_MAX ||
	    op->old_xattrs.size > JOURNAL_RECORD_MAX ||
	    op->new_xattrs.size > JOURNAL_RECORD_MAX)
		return buf_fail(out, -E2BIG);
	(void)buf_add(out, fixed, sizeof(fixed));
	(void)buf_add(out, op->path, path + 1);
	(void)buf_add(out, op->old_xattrs.data, op->old_xattrs.size);
	return buf_add(out, op->new_xattrs.data, op->new_xattrs.size);
}

/* Relative, without empty, "." and ".." components; "" is the root. */
static bool is_path_fine(const char *path, size_t n)
{
	size_t from = 0;

	if (memchr(path, '\0', n) || path[n] != '\0')
		return false;
	if (n == 0)
		return true;
	for (size_t i = 0; i <= n; i++) {
		size_t len = i - from;

		if (i < n && path[i] != '/')
			continue;
		if (len == 0 || len > 255 ||
		    (path[from] == '.' &&
		     (len == 1 || (len == 2 && path[from + 1] == '.'))))
			return false;
		from = i + 1;
	}
	return true;
}

static bool is_list_fine(const struct xattr_list *list)
{
	const char *name;
	const void *value;
	size_t pos = 0, size;
	int r;

	while ((r = xattr_list_next(list, &pos, &name, &value, &size)) == 1)
		;
	return r == 0;
}

int record_decode(const void *payload, size_t size, uint32_t n_resources,
		  struct op *ret_op)
{
	const uint8_t *p = payload, *tail = p + 32 + 3 * OBJECT_SIZE;
	struct op op = { 0 };
	uint64_t path, xattrs[2];

	if (size < FIXED_SIZE + 1)
		return -EBADMSG;
	path = bytes_get32(tail + 8);
	xattrs[0] = bytes_get32(tail + 12);
	xattrs[1] = bytes_get32(tail + 16);
	if (path > JOURNAL_PATH_MAX ||
	    FIXED_SIZE + path + 1 + xattrs[0] + xattrs[1] != size ||
	    bytes_get32(p + 28) >= CONFLICT_END || bytes_get32(tail + 20) != 0)
		return -EBADMSG;
	op.kind = (enum op_kind)bytes_get32(p);
	op.source = (enum op_source)bytes_get32(p + 4);
	op.identity = bytes_get32(p + 8) & OP_IDENTITY_ALL;
	op.effect = bytes_get32(p + 8) & ~(uint32_t)OP_IDENTITY_ALL;
	op.resource = bytes_get32(p + 12);
	op.slot = bytes_get64(p + 16);
	op.mode = bytes_get32(p + 24);
	op.accepted = (enum conflict)bytes_get32(p + 28);
	op.uid = bytes_get32(tail);
	op.gid = bytes_get32(tail + 4);
	op.path = (const char *)p + FIXED_SIZE;
	op.old_xattrs.data = p + FIXED_SIZE + path + 1;
	op.old_xattrs.size = (size_t)xattrs[0];
	op.new_xattrs.data = p + FIXED_SIZE + path + 1 + xattrs[0];
	op.new_xattrs.size = (size_t)xattrs[1];
	if (op.resource >= n_resources || op.mode > 07777 ||
	    !is_path_fine(op.path, (size_t)path) ||
	    get_object(p + 32, &op.old) < 0 ||
	    get_object(p + 32 + OBJECT_SIZE, &op.new) < 0 ||
	    get_object(p + 32 + 2 * OBJECT_SIZE, &op.layer) < 0 ||
	    !is_list_fine(&op.old_xattrs) || !is_list_fine(&op.new_xattrs) ||
	    !op_is_legal(&op))
		return -EBADMSG;
	*ret_op = op;
	return 0;
}
