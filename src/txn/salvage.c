/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/salvage.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/num.h"
#include "base/path.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/tree.h"
#include "txn/history.h"
#include "txn/journal.h"
#include "txn/site.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
#define IDS_MAX	  64
#define SLOT_SIZE 24

/* Where objects lie under numbers; site.h. */
static const struct {
	const char *top, *prefix;
	enum salvaged_version version;
	bool is_layer;
} places[] = {
	{ "undo", "", SALVAGED_BEFORE, false },
	{ "undo", "L", SALVAGED_PENDING, true },
	{ "txn", "", SALVAGED_NEW, false },
};

enum {
	AT_UNDO,
	AT_LAYER_UNDO,
	AT_STAGED,
	PLACES
};

/* An object that was told with its name. */
struct named {
	uint64_t id, slot;
	size_t resource;
	int place;
};

struct salvage {
	const int *dirs;
	size_t n;
	salvaged_fn fn;
	void *ctx;
	uint64_t ids[IDS_MAX];
	size_t n_ids;
	int session;
	struct named *named;
	size_t n_named;
	/* of the walk for those without a name */
	uint64_t id;
	size_t resource;
	const char *top;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->resource != y->resource)
		return x->resource < y->resource ? -1 : 1;
	return x->place - y->place;
}

static int note_named(struct salvage *s, const struct named *named,
		      struct hb_error *err)
{
	if (grow(s->named, s->n_named) < 0)
		return hb_fail(err, -ENOMEM, "cannot list the files");
	s->named[s->n_named++] = *named;
	return 0;
}

/* TOP/ID of a resource.  -ENOENT: it has none. */
static int open_numbered(const struct salvage *s, size_t resource,
			 const char *top, uint64_t id)
{
	char path[64];
	auto_fd int first = -1;

	if (s->dirs[resource] < 0)
		return -ENOENT;
	first = sys_openat(s->dirs[resource], top, DIR_FLAGS, 0);
	if (first < 0)
		return first;
	(void)snprintf(path, sizeof(path), "%" PRIu64, id);
	return sys_openat(first, path, DIR_FLAGS, 0);
}

static int tell(struct salvage *s, int dir, const struct named *at,
		const char *path, enum salvaged_version version,
		const struct entry *entry, struct hb_error *err)
{
	char name[SLOT_SIZE], place[64];
	struct salvaged salvaged = { .resource = at->resource,
				     .path = path,
				     .version = version,
				     .place = place,
				     .dir = dir,
				     .name = name,
				     .entry = *entry };

	(void)snprintf(name, sizeof(name), "%s%" PRIu64,
		       places[at->place].prefix, at->slot);
	(void)snprintf(place, sizeof(place), "%s/%" PRIu64 "/%s",
		       places[at->place].top, at->id, name);
	return s->fn(s->ctx, &salvaged, err);
}

static int read_entry(int place, int dir, const char *name, struct entry *ret)
{
	struct hb_error why = { 0 };

	/* Marks that are forged make it no less an object. */
	if (places[place].is_layer &&
	    entry_read_layer(dir, name, ret, &why) == 0)
		return 0;
	return entry_read_base(dir, name, ret, &why);
}

/* The version that an operation knows it for; SALVAGED_VERSIONS: none. */
static enum salvaged_version version_of(const struct op *op, int place,
					const struct object *o)
{
	if (place == AT_LAYER_UNDO)
		return object_is(o, &op->layer) ? SALVAGED_PENDING
						: SALVAGED_VERSIONS;
	if (op_is_old(op, o))
		return SALVAGED_BEFORE;
	return object_is(o, &op->new) ? SALVAGED_NEW : SALVAGED_VERSIONS;
}

static int tell_place(struct salvage *s, const struct op *op,
		      const struct named *at, struct hb_error *err)
{
	auto_fd int dir =
		open_numbered(s, at->resource, places[at->place].top, at->id);
	enum salvaged_version version;
	char name[SLOT_SIZE];
	struct object object;
	struct entry entry;
	int r;

	if (dir < 0)
		return 0;
	(void)snprintf(name, sizeof(name), "%s%" PRIu64,
		       places[at->place].prefix, at->slot);
	r = read_entry(at->place, dir, name, &entry);
	if (r < 0 || entry.type == ENTRY_NONE)
		return 0;
	object = object_of(&entry);
	version = version_of(op, at->place, &object);
	if (version == SALVAGED_VERSIONS)
		return 0;
	r = note_named(s, at, err);
	return r < 0 ? r : tell(s, dir, at, op->path, version, &entry, err);
}

static int tell_op(struct salvage *s, const struct op *op, struct hb_error *err)
{
	int r = 0;

	if (op->resource >= s->n || (op->effect & OP_UPPER) || op_dresses(op))
		return 0;
	for (size_t i = 0; r >= 0 && i < s->n_ids; i++)
		for (int place = 0; r >= 0 && place < PLACES; place++) {
			struct named at = { .id = s->ids[i],
					    .slot = op->slot,
					    .resource = op->resource,
					    .place = place };

			r = tell_place(s, op, &at, err);
		}
	return r;
}

/* Of a name in TOP/ID: which place and slot; false: it is none of ours. */
static bool parse_slot(const struct salvage *s, const char *name,
		       struct named *ret)
{
	for (int place = 0; place < PLACES; place++) {
		size_t len = strlen(places[place].prefix);
		int64_t slot;

		if (strcmp(places[place].top, s->top) != 0 ||
		    strncmp(name, places[place].prefix, len) != 0 ||
		    num_int(name + len, 0, INT64_MAX, &slot) < 0)
			continue;
		*ret = (struct named){ .id = s->id,
				       .slot = (uint64_t)slot,
				       .resource = s->resource,
				       .place = place };
		return true;
	}
	return false;
}

static int tell_unnamed(void *ctx, const struct tree_visit *v,
			struct hb_error *err)
{
	struct salvage *s = ctx;
	struct named at;
	struct entry entry;

	if (!parse_slot(s, v->name, &at) ||
	    (s->named && bsearch(&at, s->named, s->n_named, sizeof(*s->named),
				 compare_named)))
		return 0;
	if (read_entry(at.place, v->dir, v->name, &entry) < 0 ||
	    entry.type == ENTRY_NONE)
		return 0;
	return tell(s, v->dir, &at, NULL, places[at.place].version, &entry,
		    err);
}

static int tell_rest(struct salvage *s, struct hb_error *err)
{
	static const char *const tops[] = { "undo", "txn" };
	int r = 0;

	if (s->named)
		qsort(s->named, s->n_named, sizeof(*s->named), compare_named);
	for (size_t i = 0; i < s->n_ids; i++)
		for (size_t k = 0; k < 2 * s->n && r >= 0; k++) {
			auto_fd int dir = -1;

			s->id = s->ids[i];
			s->resource = k / 2;
			s->top = tops[k % 2];
			dir = open_numbered(s, s->resource, s->top, s->id);
			if (dir >= 0)
				r = tree_walk(dir, ".", TREE_FLAT, tell_unnamed,
					      s, err);
		}
	return r;
}

static int add_id(void *ctx, uint64_t id, struct hb_error *err)
{
	struct salvage *s = ctx;

	(void)err;
	for (size_t i = 0; i < s->n_ids; i++)
		if (s->ids[i] == id)
			return 0;
	if (s->n_ids < IDS_MAX)
		s->ids[s->n_ids++] = id;
	return 0;
}

static int add_unfiled(void *ctx, const struct tree_visit *v,
		       struct hb_error *err)
{
	struct salvage *s = ctx;
	int64_t id;

	if (num_int(v->name, 1, INT64_MAX, &id) < 0 ||
	    history_has(s->session, (uint64_t)id))
		return 0;
	return add_id(s, (uint64_t)id, err);
}

/*
 * Without a head: the transaction that has objects under its number and is not
 * filed.  An undo or redo has the number of a filed transaction.
 */
static int guess_ids(struct salvage *s, bool has_journal, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n; i++)
		for (int place = 0; r >= 0 && place < PLACES; place++) {
			struct sys_attr a;

			if (s->dirs[i] >= 0 &&
			    sys_attr_at(s->dirs[i], places[place].top, &a) == 0)
				r = tree_walk(s->dirs[i], places[place].top,
					      TREE_FLAT, add_unfiled, s, err);
		}
	for (int which = 0;
	     r >= 0 && has_journal && s->n_ids == 0 && which < HISTORIES;
	     which++) {
		uint64_t id;

		r = history_last(s->session, (enum history)which, &id, err);
		if (r >= 0)
			r = add_id(s, id, err);
		else if (r == -ENOENT)
			r = 0;
	}
	return r;
}

int salvage_each(int session, const int *dirs, size_t n, salvaged_fn fn,
		 void *ctx, struct hb_error *err)
{
	struct salvage s = {
		.dirs = dirs, .n = n, .fn = fn, .ctx = ctx, .session = session
	};
	auto_journal struct journal *journal = NULL;
	struct op op;
	int r;

	r = journal_open_damaged(session, "journal", &journal, err);
	if (r < 0 && r != -ENOENT)
		return r;
	r = journal && journal_head(journal)->kind != 0
		    ? add_id(&s, journal_head(journal)->id, err)
		    : guess_ids(&s, journal != NULL, err);
	while (r >= 0 && journal && (r = journal_next(journal, &op, err)) == 1)
		r = tell_op(&s, &op, err);
	if (r >= 0)
		r = tell_rest(&s, err);
	free(s.named);
	return r < 0 ? r : 0;
}

struct copying {
	int to;
	const char *path;
	int failed; /* the first failure of what lies below it */
	struct hb_error why;
};

/* The directory that `path` lies in, made as far as it is missing. */
static int make_parents(int to, const char *path, struct hb_error *err)
{
	auto_fd int at = access_open_below(to, "", 0, O_RDONLY, err);
	const char *slash;

	for (; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		int next, r;

		(void)snprintf(name, sizeof(name), "%.*s", (int)(slash - path),
			       path);
		r = sys_mkdirat(at, name, 0700);
		next = r < 0 && r != -EEXIST
			       ? r
			       : sys_openat(at, name, DIR_FLAGS, 0);
		if (next < 0)
			return next == -ENOTDIR || next == -ELOOP ? -EEXIST
								  : next;
		sys_close(at);
		at = next;
	}
	return take_fd(&at);
}

static int copy_at(const struct copying *c, int from, const char *name,
		   const struct entry *e, const char *path, bool is_end,
		   struct hb_error *err)
{
	const char *slash = strrchr(path, '/');
	const char *last = slash ? slash + 1 : path;
	auto_fd int at = make_parents(c->to, path, err);
	auto_fd int fd = -1;
	struct carry carry = { .from = from,
			       .name = name,
			       .entry = e,
			       .flags = CARRY_OWN | CARRY_TO_BASE,
			       .mode = e->mode & 0777,
			       .uid = e->uid,
			       .gid = e->gid };
	struct sys_attr now;
	int r;

	if (at < 0)
		return at;
	if (e->type == ENTRY_DIR && !is_end) {
		r = sys_mkdirat(at, last, 0700);
		/* It was made for what lies in it. */
		if (r == -EEXIST && sys_attr_at(at, last, &now) == 0 &&
		    S_ISDIR(now.mode))
			r = 0;
		return r;
	}
	if (e->type == ENTRY_DIR) {
		fd = sys_openat(at, last, DIR_FLAGS, 0);
		return fd < 0 ? fd : carry_attributes(&carry, fd, err);
	}
	if (e->type != ENTRY_FILE && e->type != ENTRY_LINK)
		return -EOPNOTSUPP;
	if (sys_attr_at(at, last, &now) != -ENOENT)
		return -EEXIST;
	return carry_copy(&carry, at, last, err);
}

static int copy_visited(struct copying *c, const struct tree_visit *v,
			struct hb_error *err)
{
	auto_buf struct buf path = BUF_INIT(PATH_TREE_MAX);
	struct entry e;
	int r;

	if (v->when == TREE_SHUT)
		return hb_fail(err, -EACCES, "cannot enter a directory");
	(void)buf_add_str(&path, c->path);
	(void)buf_add_char(&path, '/');
	r = buf_add_str(&path, v->path);
	if (r >= 0)
		r = entry_read_base(v->dir, v->name, &e, err);
	return r < 0 ? r
		     : copy_at(c, v->dir, v->name, &e, buf_str(&path),
			       v->when == TREE_LEAVE, err);
}

/* Past a failure: the rest is wanted all the same. */
static int copy_inner(void *ctx, const struct tree_visit *v,
		      struct hb_error *err)
{
	struct copying *c = ctx;
	struct hb_error why = { 0 };
	int r = copy_visited(c, v, &why);

	(void)err;
	if (r >= 0)
		return 0;
	if (c->failed == 0) {
		c->failed = r;
		c->why = why;
	}
	return v->when == TREE_ENTER && S_ISDIR(v->attr.mode) ? TREE_SKIP : 0;
}

int salvage_copy(const struct salvaged *salvaged, int to, const char *path,
		 struct hb_error *err)
{
	struct copying c = { .to = to, .path = path };
	bool is_dir = salvaged->entry.type == ENTRY_DIR;
	int r = copy_at(&c, salvaged->dir, salvaged->name, &salvaged->entry,
			path, false, err);

	if (r >= 0 && is_dir)
		r = tree_walk(salvaged->dir, salvaged->name,
			      TREE_OURS | TREE_PATIENT, copy_inner, &c, err);
	if (r >= 0 && is_dir)
		r = copy_at(&c, salvaged->dir, salvaged->name, &salvaged->entry,
			    path, true, err);
	if (r >= 0 && c.failed < 0) {
		r = c.failed == -EEXIST ? -HB_E_STATE : c.failed;
		if (err)
			*err = c.why;
	}
	return r < 0 ? hb_fail(err, r, "cannot copy '%s'", salvaged->place) : 0;
}
