/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/alike/alike.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "base/time.h"
#include "changes/alike/alike_list.h"
#include "changes/alike/alike_sweep.h"
#include "changes/alike/below.h"
#include "changes/changes.h"
#include "changes/database.h"
#include "changes/differs.h"
#include "changes/known.h"
#include "changes/walk.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/overlay.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Noting, each before the next:
 *
 *	walk	over upper and base; the list, with what goes	[alike.new]
 *	sweep	what goes is removed
 *	keep	the list has its name				[alike]
 *
 * Who finds an `alike.new` that is whole knows that the sweep was interrupted,
 * gives the directories their times back and begins again.
 */

#define LIST	 ALIKE_LIST
#define LIST_NEW ALIKE_LIST_NEW

#define LISTED_SIZE 4096

/*
 * A difference in these is a change of the session, for any change of the base.
 */
#define CHANGED_ATTRIBUTES                                               \
	(CHANGED_MODE | CHANGED_OWNER | CHANGED_XATTRS | CHANGED_LINKS | \
	 CHANGED_MAYBE_XATTRS)

/* Deeper than that each file is asked for its side files. */
#define LEVELS 64

/* Whether a directory has names that are side files of a database. */
enum sides {
	SIDES_UNKNOWN = 0,
	SIDES_NONE,
	SIDES_SOME,
};

struct noting {
	const struct resource *resource;
	struct known before;
	enum sides sides[LEVELS]; /* of the directory at hand, by depth */
	struct spill list;
	uint64_t n, n_going, n_useful;
	uint64_t n_same; /* of these, as they were noted before */
	uint64_t bytes;	 /* that may still be compared */
	bool is_committed;
	bool has_marks; /* the layer can have them */
};

static size_t depth_of(const char *path)
{
	size_t n = 0;

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
		n++;
	return n;
}

static bool is_same_entry(const struct entry *a, const struct entry *b)
{
	return a->type == b->type && a->ino == b->ino &&
	       time_is_same(a->ctime, b->ctime);
}

static bool is_same_note(const struct change *a, const struct change *b)
{
	return a->kind == b->kind && a->flags == b->flags &&
	       is_same_entry(&a->old, &b->old) &&
	       is_same_entry(&a->new, &b->new);
}

static int add(struct noting *n, struct spilled *record, struct hb_error *err)
{
	const struct change *c = &record->change;
	const struct spilled *before = known_find(&n->before, c->path);

	if (n->n++ >= ALIKE_MAX)
		return 0;
	if (before && is_same_note(&before->change, c))
		n->n_same++;
	if (c->flags & ALIKE_GOES)
		n->n_going++;
	else if (c->kind == ALIKE_SAME || c->new.type == ENTRY_FILE)
		n->n_useful++;
	return spill_add(&n->list, record, err);
}

static int what_differs(const struct sighting *s, const struct below *below,
			struct hb_error *err)
{
	const struct pair pair = {
		.new = { .dir = s->layer_dir,
			 .name = s->name,
			 .entry = &s->new,
			 .in_layer = true },
		.old = { .dir = below->dir,
			 .name = s->name,
			 .entry = &below->entry,
			 .in_layer = below->in_layer },
		.git = s->git,
	};
	struct xattrs xattrs;
	int r = side_xattrs(&pair.new, &xattrs, err);

	/* No change, and yet all that the view knows of it. */
	if (r >= 0 && xattrs.has_reserved)
		return CHANGED_XATTRS;
	return r < 0 ? r : pair_differs(&pair, &xattrs, true, err);
}

/*
 * A directory without the mark was made in a box.  An undo could not tell it
 * from a copied directory, which the user may have removed.  A directory that
 * its owner may not write to cannot be put in its place again.
 */
static bool can_go(const struct noting *n, const struct entry *e)
{
	return (e->has_origin || !n->has_marks) && (e->mode & USER_WRITE);
}

static int note_dir(struct noting *n, const struct sighting *s,
		    const struct below *below, struct hb_error *err)
{
	size_t depth = depth_of(s->path) + 1;
	struct spilled record = { .change = { .kind = ALIKE_OTHER,
					      .path = s->path,
					      .old = below->entry,
					      .new = s->new } };
	int what = what_differs(s, below, NULL);

	if (depth < LEVELS)
		n->sides[depth] = SIDES_UNKNOWN;
	if (what >= 0 && !(what & CHANGED_ATTRIBUTES)) {
		if (!below->in_layer)
			record.change.kind = ALIKE_SAME;
		if ((what == 0 || n->is_committed) && can_go(n, &s->new))
			record.change.flags = ALIKE_GOES;
	}
	return add(n, &record, err);
}

/* Whether the bytes of both may be read this time. */
static bool may_compare(struct noting *n, const struct sighting *s,
			const struct below *below)
{
	uint64_t stored = s->new.stored > below->entry.stored
				  ? s->new.stored
				  : below->entry.stored;

	if (s->new.size != below->entry.size && !git_is_index(s->git, s->name))
		return false;
	if (stored > n->bytes)
		return false;
	n->bytes -= stored;
	return true;
}

/* The upper's file is unchanged since. */
static bool is_still_noted(const struct spilled *before,
			   const struct entry *file)
{
	const struct change *c = &before->change;

	return c->new.type == ENTRY_FILE &&
	       c->new.ino ==
		       file->ino &&time_is_same(c->new.ctime, file->ctime) &&
	       !(c->flags & ALIKE_GOES);
}

/* What was found out before, and still holds. */
static bool is_noted(const struct spilled *before, const struct sighting *s,
		     const struct below *below)
{
	const struct change *c = &before->change;

	return is_still_noted(before, &s->new) &&
	       (c->kind == ALIKE_SAME ||
		entry_is_untouched(&c->old, &below->entry));
}

static const struct entry *known_file(void *ctx, const char *path,
				      size_t *ret_layer)
{
	struct noting *n = ctx;
	const struct spilled *before = known_find(&n->before, path);

	*ret_layer = 0;
	return before ? &before->change.new : NULL;
}

static enum sides list_sides(int upper)
{
	auto_fd int dir = sys_openat(upper, ".", O_RDONLY | O_DIRECTORY, 0);
	char block[LISTED_SIZE] __attribute__((aligned(8)));
	ssize_t n = dir;
	size_t len;

	while (n >= 0 && (n = sys_getdents(dir, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			if (database_part_of_name(e->name, &len) !=
			    DATABASE_MAIN)
				return SIDES_SOME;
			at += e->reclen;
		}
	return n < 0 ? SIDES_SOME : SIDES_NONE;
}

/* `dir` is the upper's directory that has the path. */
static bool may_have_sides(struct noting *n, const char *path, int dir)
{
	size_t depth = depth_of(path);

	if (depth >= LEVELS)
		return true;
	if (n->sides[depth] == SIDES_UNKNOWN)
		n->sides[depth] = list_sides(dir);
	return n->sides[depth] == SIDES_SOME;
}

/*
 * A database and its side files are one unit, also where only one of them has
 * changed.  By name: what is no database loses nothing by it.
 */
static bool has_side_files(struct noting *n, const char *path, int dir)
{
	const char *slash = strrchr(path, '/');
	size_t len;
	enum database_part own =
		database_part_of_name(slash ? slash + 1 : path, &len);
	char name[NAME_MAX + 16];
	struct sys_attr a;

	if (!may_have_sides(n, path, dir))
		return false;
	for (int i = DATABASE_MAIN; i <= DATABASE_INDEX; i++) {
		if (i == (int)own)
			continue;
		(void)snprintf(name, sizeof(name), "%.*s%s", (int)len,
			       slash ? slash + 1 : path, database_endings[i]);
		if (sys_attr_at(dir, name, &a) >= 0)
			return true;
	}
	return false;
}

/*
 * A file that was the same as the base's stays noted as long as it is the
 * compared one, even if the base has changed.
 */
static int pass_noted(void *ctx, const char *path, int dir,
		      const struct entry *file, struct hb_error *err)
{
	struct noting *n = ctx;
	const struct spilled *before = known_find(&n->before, path);
	struct spilled record;
	int r;

	if (!before || before->change.kind != ALIKE_SAME ||
	    !is_still_noted(before, file) || has_side_files(n, path, dir))
		return 0;
	record = *before;
	record.change.path = path;
	r = add(n, &record, err);
	return r < 0 ? r : 1;
}

/* A file that is alike does not count if it is part of a unit that is not. */
static int add_file(struct noting *n, const struct sighting *s,
		    struct spilled *record, struct hb_error *err)
{
	if ((record->change.kind == ALIKE_SAME || record->change.flags) &&
	    has_side_files(n, s->path, s->layer_dir)) {
		record->change.kind = ALIKE_OTHER;
		record->change.flags = 0;
	}
	return add(n, record, err);
}

static int note_file(struct noting *n, const struct sighting *s,
		     const struct below *below, const struct spilled *before,
		     struct hb_error *err)
{
	struct spilled record = { .change = { .kind = ALIKE_OTHER,
					      .path = s->path,
					      .old = below->entry,
					      .new = s->new } };
	struct entry now;
	int what;

	if (before && is_noted(before, s, below)) {
		record.change.kind = before->change.kind;
		record.change.old = before->change.old;
		return add_file(n, s, &record, err);
	}
	if (!may_compare(n, s, below))
		return 0;
	what = what_differs(s, below, NULL);
	if (what < 0)
		return 0;
	/* A write meanwhile has not been compared. */
	if (!below->in_layer &&
	    (entry_read_base(below->dir, s->name, &now, NULL) < 0 ||
	     !entry_is_untouched(&now, &below->entry)))
		return 0;
	if (!(what & (CHANGED_ATTRIBUTES | CHANGED_CONTENT))) {
		if (!below->in_layer)
			record.change.kind = ALIKE_SAME;
		if (time_is_same(s->new.mtime, below->entry.mtime) &&
		    !git_is_index(s->git, s->name))
			record.change.flags = ALIKE_GOES;
	}
	return add_file(n, s, &record, err);
}

static int note_one(void *ctx, struct sighting *s, struct hb_error *err)
{
	struct noting *n = ctx;
	const struct spilled *before = known_find(&n->before, s->path);
	auto_below struct below below = BELOW_NONE;
	mode_t wanted = s->new.type == ENTRY_DIR ? USER_LIST : USER_READ;
	int r;

	if (!entry_opens(s->new.type))
		return WALK_PAST;
	/* To read it would take another mode for a while, and that a ctime. */
	if ((s->new.mode &wanted) != wanted)
		return WALK_PAST;
	/* Nothing below shines through. */
	if (s->new.is_opaque)
		return WALK_PAST;
	r = below_find(n->resource->layers + 1, n->resource->n_layers - 1, s,
		       &below);
	if (r < 0 || below.entry.type != s->new.type)
		return WALK_PAST;
	r = s->new.type == ENTRY_DIR ? note_dir(n, s, &below, err)
				     : note_file(n, s, &below, before, err);
	return r < 0 ? r : WALK_ON;
}

static int note_top(struct noting *n, struct hb_error *err)
{
	struct spilled record = { .change = { .kind = ALIKE_OTHER,
					      .path = "." } };
	int r = entry_read_fd(n->resource->layers[0], true, &record.change.new,
			      err);

	/* It says nothing by itself. */
	return r < 0 ? r : spill_add(&n->list, &record, err);
}

static int walk(struct noting *n, struct hb_error *err)
{
	const struct walk_request request = {
		.base = n->resource->base,
		.layers = n->resource->layers,
		.n_layers = 1,
		.spill_dir = n->resource->dir,
		.store_name = n->resource->store_name,
		.sight = note_one,
		.known = known_file,
		.settled = pass_noted,
		.ctx = n,
	};
	int r = note_top(n, err);

	return r < 0 ? r : walk_run(&request, err);
}

static void open_before(struct noting *n)
{
	uint64_t size;
	int fd = alike_list_open(n->resource->dir, LIST, &size);

	n->before.spill.file = -1;
	if (fd < 0)
		return;
	known_begin(&n->before, fd, size);
	/* "." is not where a walk would have it. */
	known_skip(&n->before);
}

static bool may_go_at_once(const struct spilled *record)
{
	return record->change.flags & ALIKE_GOES;
}

static bool goes_at_once(const struct spilled *record,
			 const struct sys_attr *base)
{
	/* The upper's file is not missed, even if the base has changed. */
	(void)record;
	(void)base;
	return true;
}

static int drop_name(const struct resource *resource, const char *name,
		     struct hb_error *err)
{
	int r = sys_unlinkat(resource->dir, name, 0);

	return r < 0 && r != -ENOENT
		       ? hb_fail(err, r, "cannot remove '%s'", name)
		       : 0;
}

/* A sweep that was interrupted: see above. */
static int make_up(const struct resource *resource, struct hb_error *err)
{
	uint64_t size;
	int fd = alike_list_open(resource->dir, LIST_NEW, &size);
	struct spill list;
	int r;

	if (fd < 0)
		return 0;
	spill_resume(&list, fd, size);
	r = sweep_restore_times(resource, &list, err);
	spill_done(&list);
	return r < 0 ? r : drop_name(resource, LIST_NEW, err);
}

/* What could go from it then could not, and cannot now. */
static bool is_as_before(const struct noting *n)
{
	const struct spill *before = &n->before.spill;

	return n->n_same == n->n && before->next == before->end &&
	       n->before.n_read == n->n + 1;
}

static int keep(struct noting *n, struct hb_error *err)
{
	const struct sweep_request sweep = {
		.resource = n->resource,
		.list = &n->list,
		.may_go = may_go_at_once,
		.goes = goes_at_once,
	};
	uint64_t n_gone;
	int r = 0;

	if (is_as_before(n))
		return drop_name(n->resource, LIST_NEW, err);
	if (n->n_going + n->n_useful > 0)
		r = alike_list_end(&n->list, err);
	if (r >= 0 && n->n_going > 0)
		r = sweep_run(&sweep, &n_gone, err);
	if (r < 0)
		return r;
	if (n->n_going + n->n_useful == 0) {
		r = drop_name(n->resource, LIST_NEW, err);
		return r < 0 ? r : drop_name(n->resource, LIST, err);
	}
	r = sys_renameat(n->resource->dir, LIST_NEW, n->resource->dir, LIST);
	return r < 0 ? hb_fail(err, r, "cannot note the copies without changes")
		     : 0;
}

static bool can_have_marks(int dir)
{
	return sys_get_xattr(dir, OVERLAY_PREFIX "origin", NULL, 0) !=
	       -EOPNOTSUPP;
}

int alike_note(const struct resource *resource, bool is_committed,
	       struct hb_error *err)
{
	struct noting n = {
		.resource = resource,
		.bytes = ALIKE_BYTES_MAX,
		.is_committed = is_committed,
	};
	int r;

	r = make_up(resource, err);
	if (r >= 0)
		r = tree_is_empty(resource->layers[0], ".", TREE_OURS, err);
	if (r == 1)
		return alike_forget(resource, err);
	if (r >= 0)
		r = alike_list_begin(&n.list, resource->dir, LIST_NEW, err);
	if (r < 0)
		return r;
	n.has_marks = can_have_marks(resource->layers[0]);
	open_before(&n);
	r = walk(&n, err);
	if (r >= 0)
		r = keep(&n, err);
	if (r < 0)
		(void)make_up(resource, NULL);
	known_done(&n.before);
	spill_done(&n.list);
	return r;
}

static bool may_be_stale(const struct spilled *record)
{
	return record->change.kind == ALIKE_SAME;
}

/* The base has another one; that the upper has not is asked next. */
static bool is_stale(const struct spilled *record, const struct sys_attr *base)
{
	const struct change *c = &record->change;

	return !base || base->ino != c->old.ino ||
	       (base->mode & S_IFMT) !=
		       (c->old.type == ENTRY_DIR ? S_IFDIR : S_IFREG) ||
	       !time_is_same(base->ctime, c->old.ctime);
}

int alike_drop(const struct resource *resource, struct timespec *ret_newest,
	       struct hb_error *err)
{
	struct spill list;
	const struct sweep_request sweep = {
		.resource = resource,
		.list = &list,
		.may_go = may_be_stale,
		.goes = is_stale,
		.newest = ret_newest,
		.is_durable = true,
	};
	uint64_t n_gone, size;
	int fd, r;

	if (ret_newest)
		*ret_newest = (struct timespec){ 0 };
	r = make_up(resource, err);
	if (r < 0)
		return r;
	fd = alike_list_open(resource->dir, LIST, &size);
	if (fd < 0)
		return 0;
	spill_resume(&list, fd, size);
	r = sweep_run(&sweep, &n_gone, err);
	spill_done(&list);
	return r;
}

int alike_forget(const struct resource *resource, struct hb_error *err)
{
	int r = drop_name(resource, LIST_NEW, err);

	return r < 0 ? r : drop_name(resource, LIST, err);
}
