/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/parents.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "txn/access.h"
#include "txn/carry.h"
#include "txn/overlay.h"
#include "txn/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FRESH	   "parent.new"
#define USER_WRITE 0200

/* To the overlay it is a copy that it made itself. */
static int mark(int fd)
{
	int r = sys_set_xattr(fd, OVERLAY_PREFIX "origin", "", 0);

	return r == -EOPNOTSUPP ? 0 : r;
}

/* An empty directory in the store, as the base has it but for marks. */
static int make_fresh(struct site *s, int base, const char *name,
		      const struct entry *e, struct hb_error *err)
{
	bool is_root = sys_effective_uid() == 0;
	struct carry carry = {
		.from = base,
		.name = name,
		.entry = e,
		.flags = CARRY_TO_LAYER | CARRY_FROM_OTHERS | CARRY_OWN,
		/* One that is to move has to be writable. */
		.mode = e->mode | USER_WRITE,
		.uid = e->uid,
		/* A user's box knows one group. */
		.gid = is_root ? e->gid : sys_effective_gid(),
	};
	auto_fd int fd = -1;
	int r;

	r = tree_remove(s->resource->dir, FRESH, err);
	if (r >= 0)
		r = carry_copy(&carry, s->resource->dir, FRESH, err);
	if (r < 0)
		return r;
	fd = sys_openat(s->resource->dir, FRESH,
			O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	return fd < 0 ? fd : mark(fd);
}

static int put_fresh(struct site *s, int upper, const char *name,
		     const struct entry *e)
{
	auto_fd int parent = sys_openat(upper, ".", O_RDONLY | O_DIRECTORY, 0);
	auto_fd int fd = -1;
	struct sys_attr above;
	int r = sys_attr_at(upper, "", &above);

	if (r >= 0)
		r = sys_renameat2(s->resource->dir, FRESH, upper, name, 0);
	if (r < 0)
		return r;
	fd = sys_openat(upper, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	r = fd < 0 ? fd : 0;
	if (r >= 0 && !(e->mode & USER_WRITE))
		r = sys_chmod_fd(fd, e->mode);
	if (r >= 0)
		r = sys_set_mtime_at(fd, "", e->mtime);
	if (r >= 0)
		r = sys_set_mtime_at(upper, "", above.mtime);
	if (r < 0)
		return r;
	return parent < 0 ? sys_syncfs(s->resource->dir) : sys_fsync(parent);
}

/* 1: it is there, or was made; 0: it cannot be. */
static int make_one(struct site *s, const char *path, size_t parent_len,
		    const char *name, struct hb_error *err)
{
	auto_fd int upper = access_open_below(s->upper.root, path, parent_len,
					      O_PATH, NULL);
	auto_fd int base = access_open_below(s->resource->base, path,
					     parent_len, O_PATH, NULL);
	char shown[QUOTE_SHOWN];
	struct sys_attr there;
	struct entry e;
	int r;

	if (upper < 0)
		return 0;
	r = sys_attr_at(upper, name, &there);
	if (r != -ENOENT)
		return r >= 0;
	if (base < 0 || entry_read_base(base, name, &e, NULL) < 0 ||
	    e.type != ENTRY_DIR)
		return 0;
	r = make_fresh(s, base, name, &e, err);
	if (r >= 0)
		r = put_fresh(s, upper, name, &e);
	return r < 0 ? hb_fail(err, r, "cannot make %s in the layer again",
			       quote_shown(name, shown, sizeof(shown)))
		     : 1;
}

static bool needs_itself(const struct op *op)
{
	return op->kind == OP_DIRECTORY && op->layer.type == ENTRY_DIR &&
	       *op->path != '\0';
}

static bool needs_parent(const struct op *op)
{
	return op->kind != OP_DIRECTORY &&
	       (op->source == SOURCE_LAYER || (op->flags & OP_LAYER_MOVES));
}

void parents_done(struct parents *p)
{
	buf_done(&p->away);
}

/* Whether an operation brings it, with all that was in it. */
static bool is_away(const struct parents *p, const struct op *op)
{
	size_t n = p->away.len;

	return n > 0 && p->resource == op->resource &&
	       strncmp(op->path, buf_str(&p->away), n) == 0 &&
	       (op->path[n] == '\0' || op->path[n] == '/');
}

static int note_away(struct parents *p, const struct op *op,
		     struct hb_error *err)
{
	int r;

	if (!(op->flags & OP_LAYER_MOVES) || op->layer.type != ENTRY_DIR)
		return 0;
	buf_cut(&p->away, 0);
	p->resource = op->resource;
	r = buf_add_str(&p->away, op->path);
	return r < 0 ? hb_fail(err, r, "cannot keep a path") : 0;
}

int parents_make(struct parents *p, struct site *s, const struct op *op,
		 struct hb_error *err)
{
	auto_free char *path = NULL;
	const char *slash = strrchr(op->path, '/');
	auto_fd int there = -1;
	size_t at = 0;
	int r = 1;

	if ((op->flags & OP_UPPER) || s->upper.root < 0 || is_away(p, op))
		return 0;
	if (!needs_itself(op) && !(needs_parent(op) && slash))
		return note_away(p, op, err);
	path = needs_itself(op) ? strdup(op->path)
				: strndup(op->path, (size_t)(slash - op->path));
	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	there = site_open_upper_dir(s, path, NULL);
	if (there >= 0)
		return note_away(p, op, err);
	while (r == 1 && path[at]) {
		size_t n = strcspn(path + at, "/");
		char end = path[at + n];

		path[at + n] = '\0';
		r = make_one(s, path, at > 0 ? at - 1 : 0, path + at, err);
		path[at + n] = end;
		at += n + (end == '/');
	}
	return r < 0 ? r : note_away(p, op, err);
}
