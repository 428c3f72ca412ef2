/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/alike/alike_sweep.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/time.h"
#include "changes/alike/alike.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The list has a directory before its entries.  So the way down to the current
 * directory is a stack, and leaving a directory takes it off.  Only that of the
 * top is open, in the upper and in the base.
 */

#define LEVELS_MAX 65536

struct level {
	size_t len; /* of its path */
	bool goes;
	bool is_touched; /* a name of it is gone; it had this time before */
	struct timespec mtime;
};

struct sweep {
	const struct sweep_request *q;
	struct buf path; /* of the directory at the top */
	struct level *levels;
	size_t n;
	int upper, base; /* it; -1: not open, or not there */
	bool is_open;
	uint64_t n_gone;
};

static bool is_it(const struct entry *noted, const struct sys_attr *now)
{
	if (noted->ino != now->ino)
		return false;
	if (noted->type == ENTRY_DIR)
		return S_ISDIR(now->mode) &&
		       noted->mode == (now->mode & 07777) &&
		       noted->uid == now->uid && noted->gid == now->gid;
	return S_ISREG(now->mode) && time_is_same(noted->ctime, now->ctime);
}

static int fail_at(const char *what, const char *path, int r,
		   struct hb_error *err)
{
	return hb_fail(err, r, "cannot %s %s in the layer", what, quoted(path));
}

static void close_top(struct sweep *s)
{
	fd_closep(&s->upper);
	fd_closep(&s->base);
	s->is_open = false;
}

/* What cannot be opened is left alone. */
static void open_top(struct sweep *s)
{
	const struct resource *resource = s->q->resource;

	if (s->is_open)
		return;
	s->upper = access_open_below(resource->layers[0], buf_str(&s->path),
				     s->path.len, O_PATH, NULL);
	s->base = access_open_below(resource->base, buf_str(&s->path),
				    s->path.len, O_PATH, NULL);
	s->is_open = true;
}

/* Of the top: all names that go from it are gone. */
static int settle_top(struct sweep *s, struct hb_error *err)
{
	const struct level *level = &s->levels[s->n - 1];
	auto_fd int dir = -1;
	int r = 0;

	if (!level->is_touched)
		return 0;
	open_top(s);
	if (s->upper < 0)
		return 0;
	r = sys_set_mtime_at(s->upper, "", level->mtime);
	if (r >= 0 && s->q->is_durable && !level->goes) {
		dir = sys_openat(s->upper, ".", O_RDONLY | O_DIRECTORY, 0);
		r = dir < 0 ? sys_syncfs(s->q->resource->layers[0])
			    : sys_fsync(dir);
	}
	return r < 0 ? fail_at("settle", buf_str(&s->path), r, err) : 0;
}

static int remove_name(struct sweep *s, const char *name, int flags,
		       struct hb_error *err)
{
	struct level *level = &s->levels[s->n - 1];
	struct sys_attr dir;
	int r = sys_attr_at(s->upper, "", &dir);

	if (r >= 0)
		r = sys_unlinkat(s->upper, name, flags);
	if (r == 0) {
		if (!level->is_touched)
			level->mtime = dir.mtime;
		level->is_touched = true;
		s->n_gone++;
		return 0;
	}
	/* It holds something, or its owner has closed the directory. */
	if (r == -ENOTEMPTY || r == -EEXIST || r == -ENOENT || r == -EACCES ||
	    r == -EPERM)
		return 0;
	return fail_at("remove", name, r, err);
}

static int leave(struct sweep *s, struct hb_error *err)
{
	bool goes = s->levels[s->n - 1].goes;
	auto_free char *name = NULL;
	const char *slash;
	int r;

	r = settle_top(s, err);
	s->n--;
	close_top(s);
	if (r < 0 || s->n == 0)
		return r;
	if (!goes) {
		buf_cut(&s->path, s->levels[s->n - 1].len);
		return 0;
	}
	slash = strrchr(buf_str(&s->path), '/');
	name = strdup(slash ? slash + 1 : buf_str(&s->path));
	buf_cut(&s->path, s->levels[s->n - 1].len);
	if (!name)
		return hb_fail(err, -ENOMEM, "cannot look at a layer");
	open_top(s);
	return s->upper < 0 ? 0 : remove_name(s, name, AT_REMOVEDIR, err);
}

/* The first one is the top of the upper itself. */
static int enter(struct sweep *s, const char *path, bool goes,
		 struct hb_error *err)
{
	struct level level = { .goes = goes };
	int r;

	if (s->n == LEVELS_MAX)
		return hb_fail(err, -E2BIG, "directories are nested too deep");
	if (grow(s->levels, s->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot look at a layer");
	close_top(s);
	buf_cut(&s->path, 0);
	r = s->n > 0 ? buf_add_str(&s->path, path) : 0;
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	level.len = s->path.len;
	s->levels[s->n++] = level;
	return 0;
}

static bool is_in_top(const struct sweep *s, const char *path)
{
	size_t len = s->levels[s->n - 1].len;

	return len == 0 ||
	       (strncmp(path, buf_str(&s->path), len) == 0 && path[len] == '/');
}

/* Whether the object is still there and goes. */
static bool is_to_go(struct sweep *s, const struct spilled *record,
		     const char *name)
{
	struct sys_attr now, base;
	bool has_base;

	if (!s->q->may_go(record))
		return false;
	open_top(s);
	if (s->upper < 0)
		return false;
	has_base = s->base >= 0 && sys_attr_at(s->base, name, &base) >= 0;
	return s->q->goes(record, has_base ? &base : NULL) &&
	       sys_attr_at(s->upper, name, &now) >= 0 &&
	       is_it(&record->change.new, &now);
}

static void keep_newest(struct timespec *newest, struct timespec t)
{
	if (newest && time_is_before(*newest, t))
		*newest = t;
}

static int sweep_one(struct sweep *s, const struct spilled *record,
		     struct hb_error *err)
{
	const struct change *c = &record->change;
	const char *slash = strrchr(c->path, '/');
	const char *name = slash ? slash + 1 : c->path;
	bool goes;
	int r = 0;

	while (r >= 0 && !is_in_top(s, c->path))
		r = leave(s, err);
	if (r < 0)
		return r;
	/* Not in the list as it should be: what is in it is not for us. */
	if ((slash ? (size_t)(slash - c->path) : 0) != s->levels[s->n - 1].len)
		return 0;
	goes = is_to_go(s, record, name);
	if (c->new.type == ENTRY_DIR)
		return enter(s, c->path, goes, err);
	return goes ? remove_name(s, name, 0, err) : 0;
}

int sweep_run(const struct sweep_request *request, uint64_t *ret_n,
	      struct hb_error *err)
{
	struct sweep s = { .q = request,
			   .path = BUF_INIT(PATH_TREE_MAX),
			   .upper = -1,
			   .base = -1 };
	struct spilled record;
	int r;

	r = spill_rewind(request->list, err);
	while (r >= 0 && (r = spill_next(request->list, &record, err)) == 1) {
		keep_newest(request->newest, record.change.new.ctime);
		r = s.n == 0 ? enter(&s, "", false, err)
			     : sweep_one(&s, &record, err);
	}
	while (r >= 0 && s.n > 0)
		r = leave(&s, err);
	close_top(&s);
	free(s.levels);
	buf_done(&s.path);
	*ret_n = s.n_gone;
	return r < 0 ? r : 0;
}

int sweep_restore_times(const struct resource *resource, struct spill *list,
			struct hb_error *err)
{
	struct spilled record;
	int r;

	r = spill_rewind(list, err);
	while (r >= 0 && (r = spill_next(list, &record, err)) == 1) {
		const struct change *c = &record.change;
		bool is_top = strcmp(c->path, ".") == 0;
		auto_fd int dir = -1;
		struct sys_attr now;

		if (c->new.type != ENTRY_DIR)
			continue;
		dir = access_open_below(
			resource->layers[0], is_top ? "" : c->path,
			is_top ? 0 : strlen(c->path), O_PATH, NULL);
		if (dir < 0 || sys_attr_at(dir, "", &now) < 0 ||
		    !is_it(&c->new, &now) ||
		    time_is_same(now.mtime, c->new.mtime))
			continue;
		r = sys_set_mtime_at(dir, "", c->new.mtime);
		if (r < 0)
			return fail_at("settle", c->path, r, err);
	}
	return r < 0 ? r : 0;
}
