/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/parents.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "base/quote.h"
#include "changes/alike/alike.h"
#include "changes/alike/alike_list.h"
#include "changes/alike/alike_sweep.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/content.h"
#include "tree/overlay.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FRESH "parents.new"

static int fail_at(const char *path, int r, struct hb_error *err)
{
	return hb_fail(err, r, "cannot make %s in the layer again",
		       quoted(path));
}

/* To the overlay it is a copy that it made itself. */
static int mark(int dir, const char *name)
{
	auto_fd int fd =
		sys_openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	int r = fd < 0 ? fd : sys_set_xattr(fd, OVERLAY_PREFIX "origin", "", 0);

	return r == -EOPNOTSUPP ? 0 : r;
}

/* An empty directory as the base has it; open to us until it is in its place.
 */
static int copy_dir(int base, int to, const char *name, const struct entry *e,
		    struct hb_error *err)
{
	const struct carry carry = {
		.from = base,
		.name = name,
		.entry = e,
		.flags = CARRY_TO_LAYER | CARRY_FROM_OTHERS | CARRY_OWN,
		.mode = e->mode | USER_ALL,
		.uid = e->uid,
		/* A user's box knows one group. */
		.gid = sys_effective_uid() == 0 ? e->gid : sys_effective_gid(),
	};
	int r = carry_copy(&carry, to, name, err);

	return r < 0 ? r : mark(to, name);
}

/* Also below a closed directory. */
static bool is_in_upper(struct site *s, const char *path)
{
	auto_fd int fd = content_find_dir(s->resource->layers[0], path,
					  strlen(path), NULL);

	return fd >= 0;
}

/* Whether the upper has something at the path that is no directory. */
static bool is_taken(struct site *s, const char *path, size_t parent_len,
		     const char *name)
{
	auto_fd int dir = content_find_dir(s->resource->layers[0], path,
					   parent_len, NULL);
	struct sys_attr there;

	return dir >= 0 && sys_attr_at(dir, name, &there) >= 0;
}

/*
 * One more directory below FRESH, of which `path` is what lies in the upper.
 * 1: it is there, or was made; 0: it cannot be.
 */
static int make_one(struct site *s, int fresh, const char *path,
		    size_t parent_len, const char *name, struct hb_error *err)
{
	auto_fd int to =
		access_open_below(fresh, path, parent_len, O_PATH, NULL);
	auto_fd int base = access_open_below(s->resource->base, path,
					     parent_len, O_PATH, NULL);
	struct sys_attr there;
	struct entry e;
	int r;

	if (to < 0)
		return 0;
	if (sys_attr_at(to, name, &there) >= 0)
		return 1;
	/* Deleted or made something else since: that is not to be replaced. */
	if (!is_in_upper(s, path) && is_taken(s, path, parent_len, name))
		return 0;
	/* A place to hang others in. */
	if (is_in_upper(s, path)) {
		r = sys_mkdirat(to, name, USER_ALL);
	} else {
		if (base < 0 || entry_read_base(base, name, &e, NULL) < 0 ||
		    e.type != ENTRY_DIR)
			return 0;
		r = copy_dir(base, to, name, &e, err);
	}
	return r < 0 ? fail_at(path, r, err) : 1;
}

static int open_fresh(struct site *s)
{
	return sys_openat(s->resource->dir, FRESH,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

int parents_begin(struct site *s, struct hb_error *err)
{
	return tree_remove(s->resource->dir, FRESH, err);
}

/* What a name is moved into keeps its time. */
static int hold_time(struct spill *list, int dir, const char *path,
		     struct hb_error *err)
{
	struct spilled record = { .change = { .kind = ALIKE_OTHER,
					      .path = path } };
	int r = entry_read_fd(dir, true, &record.change.new, err);

	return r < 0 ? r : spill_add(list, &record, err);
}

struct hang {
	struct site *site;
	struct spill list;
};

static int hold_one(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	struct hang *h = ctx;
	auto_fd int dir = -1;

	if (v->when == TREE_LEAVE)
		return 0;
	dir = content_find_dir(h->site->resource->layers[0], v->path,
			       strlen(v->path), NULL);
	return dir < 0 ? TREE_SKIP : hold_time(&h->list, dir, v->path, err);
}

/* Attributes at last, when all that is in it is there. */
static int finish_one(struct site *s, const struct tree_visit *v)
{
	auto_fd int base = site_open_dir(&s->base, v->path, NULL);
	auto_fd int fd = sys_openat(v->dir, v->name,
				    O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	struct sys_attr a;
	mode_t mode;
	int r = base < 0 ? base : fd < 0 ? fd : sys_attr_at(base, "", &a);

	if (r < 0)
		return r;
	mode = (a.mode & 07777) | USER_WRITE;
	r = sys_set_mtime_at(fd, "", a.mtime);
	return r < 0 ? r : sys_chmod_fd(fd, mode);
}

/* A directory that is to have no write permission loses it after its move. */
static int move_one(struct site *s, const struct tree_visit *v, int to)
{
	auto_fd int base = site_open_dir(&s->base, v->path, NULL);
	auto_fd int fd = -1;
	struct sys_attr a;
	int r = sys_renameat2(v->dir, v->name, to, v->name, 0);

	if (r < 0 || base < 0 || sys_attr_at(base, "", &a) < 0 ||
	    (a.mode & USER_WRITE))
		return r;
	fd = sys_openat(to, v->name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	return fd < 0 ? fd : sys_chmod_fd(fd, a.mode & 07777);
}

static int hang_one(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	struct hang *h = ctx;
	struct site *s = h->site;
	const char *slash = strrchr(v->path, '/');
	auto_free char *parent =
		strndup(v->path, slash ? (size_t)(slash - v->path) : 0);
	auto_fd int to = -1;
	auto_fd int dir = -1;
	int r;

	if (v->when != TREE_LEAVE || is_in_upper(s, v->path))
		return 0;
	if (!parent)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	r = finish_one(s, v);
	to = r < 0 ? r : site_open_dir(&s->upper, parent, NULL);
	/* That one is to move itself. */
	if (r < 0 || to < 0)
		return r < 0 ? fail_at(v->path, r, err) : 0;
	r = move_one(s, v, to);
	dir = r < 0 ? r : sys_openat(to, ".", O_RDONLY | O_DIRECTORY, 0);
	if (r >= 0)
		r = dir < 0 ? sys_syncfs(s->resource->dir) : sys_fsync(dir);
	return r < 0 ? fail_at(v->path, r, err) : 0;
}

static int hang_all(struct hang *h, struct hb_error *err)
{
	struct site *s = h->site;
	int r;

	r = hold_time(&h->list, s->upper.root, ".", err);
	if (r >= 0)
		r = tree_walk(s->resource->dir, FRESH, 0, hold_one, h, err);
	if (r >= 0)
		r = alike_list_end(&h->list, err);
	if (r >= 0)
		r = tree_walk(s->resource->dir, FRESH, 0, hang_one, h, err);
	if (r >= 0)
		r = sweep_restore_times(s->resource, &h->list, err);
	return r < 0 ? r : alike_forget(s->resource, err);
}

int parents_end(struct site *s, struct hb_error *err)
{
	struct hang h = { .site = s };
	auto_fd int fresh = open_fresh(s);
	int r;

	if (fresh < 0)
		return fresh == -ENOENT ? 0 : fail_at(".", fresh, err);
	site_forget(s);
	r = alike_list_begin(&h.list, s->resource->dir, ALIKE_LIST_NEW, err);
	if (r < 0)
		return r;
	r = hang_all(&h, err);
	spill_done(&h.list);
	return r < 0 ? r : tree_remove(s->resource->dir, FRESH, err);
}

static bool needs_itself(const struct op *op)
{
	return op_dresses(op) && op->layer.type == ENTRY_DIR &&
	       *op->path != '\0';
}

static bool needs_parent(const struct op *op)
{
	return !op_dresses(op) &&
	       (op->source == SOURCE_LAYER || (op->effect & OP_LAYER_MOVES));
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

	if (!(op->effect & OP_LAYER_MOVES) || op->layer.type != ENTRY_DIR)
		return 0;
	buf_cut(&p->away, 0);
	p->resource = op->resource;
	r = buf_add_str(&p->away, op->path);
	return r < 0 ? hb_fail(err, r, "cannot keep a path") : 0;
}

/* The first time something is missing. */
static int make_fresh(struct site *s)
{
	int fd = open_fresh(s);
	int r;

	if (fd != -ENOENT)
		return fd;
	r = sys_mkdirat(s->resource->dir, FRESH, USER_ALL);
	return r < 0 ? r : open_fresh(s);
}

int parents_need(struct parents *p, struct site *s, const struct op *op,
		 struct hb_error *err)
{
	auto_free char *path = NULL;
	const char *slash = strrchr(op->path, '/');
	auto_fd int fresh = -1;
	size_t at = 0;
	int r = 1;

	if ((op->effect & OP_UPPER) || s->upper.root < 0 || is_away(p, op))
		return 0;
	if (!needs_itself(op) && !(needs_parent(op) && slash))
		return note_away(p, op, err);
	path = needs_itself(op) ? strdup(op->path)
				: strndup(op->path, (size_t)(slash - op->path));
	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	if (is_in_upper(s, path))
		return note_away(p, op, err);
	fresh = make_fresh(s);
	if (fresh < 0)
		return fail_at(path, fresh, err);
	while (r == 1 && path[at]) {
		size_t n = strcspn(path + at, "/");
		char end = path[at + n];

		path[at + n] = '\0';
		r = make_one(s, fresh, path, at > 0 ? at - 1 : 0, path + at,
			     err);
		path[at + n] = end;
		at += n + (end == '/');
	}
	return r < 0 ? r : note_away(p, op, err);
}
