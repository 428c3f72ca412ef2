/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/changes.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/path.h"
#include "base/sha256.h"
#include "changes/begun/begun.h"
#include "changes/conflict.h"
#include "changes/database.h"
#include "changes/differs.h"
#include "changes/explained.h"
#include "changes/git/delivered.h"
#include "changes/known.h"
#include "changes/settled.h"
#include "changes/stream.h"
#include "changes/top.h"
#include "changes/walk.h"
#include "git/gitunit.h"
#include "git/ignore/ignored.h"
#include "sys/durable.h"
#include "tree/access.h"
#include "tree/compare.h"
#include "tree/origin.h"
#include "tree/standin.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/*
 * From sightings to changes
 * -------------------------
 *
 * walk.c shows the old and the new object of each path.  Here the two are
 * compared, equal ones are dropped, and the rest is judged (conflict.c), hashed
 * and spilled.  Renames are found when all is known, and laid over the stream
 * while it is read.
 *
 * The hash covers all that a reviewer sees and commit will write: path, kind
 * and difference.  Of the new object it covers type, mode, owner, extended
 * attributes and content, and unless it is a directory also size, links and
 * mtime.  Not the old object, identities or conflicts: they may change without
 * the session's changes being others.
 */
#define HASH_VERSION "holdback changes 1\n"
#define SCAN_TRIES   3

struct scan {
	const struct changes_request *request;
	struct changes *changes;
	struct conflict_rule rule;
	struct known known;
	const struct spilled *earlier; /* what it has at the path at hand */
	struct ignored *ignored;       /* NULL: not asked for */
	bool has_learned;	       /* something that it did not know */
	uint64_t number;	       /* of the next change that is added */
	struct sha256 hash;
	struct buf hashed; /* the path that was last hashed */
};

static struct side new_side(const struct sighting *s)
{
	return (struct side){
		.dir = s->layer_dir,
		.name = s->name,
		.entry = &s->new,
		.in_layer = true,
	};
}

static struct side old_side(const struct sighting *s)
{
	return (struct side){
		.dir = s->base_dir,
		.name = s->name,
		.entry = &s->old,
	};
}

/* Whether other names lead to it: a directory has but one. */
static bool has_names(const struct entry *e)
{
	return e->type != ENTRY_NONE && e->type != ENTRY_DIR && e->nlink > 1;
}

static enum change_kind kind_of(unsigned what)
{
	if (what & (CHANGED_CONTENT | CHANGED_TARGET))
		return CHANGE_MODIFIED;
	if (what &
	    (CHANGED_MODE | CHANGED_OWNER | CHANGED_XATTRS | CHANGED_LINKS))
		return CHANGE_ATTRIBUTES;
	return CHANGE_TIMES;
}

/* 1: a change, whose kind, what and flags are set; 0: none. */
static int classify(const struct sighting *s, const struct xattrs *xattrs,
		    bool names_only, struct change *c, struct hb_error *err)
{
	const struct pair pair = {
		.new = new_side(s),
		.old = old_side(s),
		.git = s->git,
	};
	int what;

	if (s->old.type == ENTRY_NONE)
		c->kind = CHANGE_ADDED;
	else if (s->new.type == ENTRY_NONE)
		c->kind = CHANGE_DELETED;
	else if (s->new.type != s->old.type)
		c->kind = CHANGE_TYPE;
	else {
		what = pair_differs(&pair, xattrs, names_only, err);
		if (what < 0)
			return what;
		c->what = (unsigned)what;
		c->kind = kind_of(c->what);
		if (s->new.type == ENTRY_DIR && c->kind == CHANGE_TIMES)
			c->flags |= CHANGE_CARRIED;
		if (s->is_opaque)
			c->flags |= CHANGE_OPAQUE;
		return what != 0 || s->is_opaque;
	}
	return 1;
}

enum change_asks change_asks(const struct change *change)
{
	bool is_as_before =
		(change->kind == CHANGE_ATTRIBUTES ||
		 change->kind == CHANGE_TIMES) &&
		!(change->what & ~(unsigned)(CHANGED_MTIME | CHANGED_LINKS));

	if (change->flags & CHANGE_SPECIAL)
		return change->new.type == ENTRY_FIFO ? CHANGE_ASKS_SPECIAL
						      : CHANGE_ASKS_NEVER;
	if ((change->flags & CHANGE_SETID) && !is_as_before)
		return CHANGE_ASKS_SETID;
	return CHANGE_ASKS_NOTHING;
}

static void set_flags(const struct conflict_rule *rule,
		      const struct sighting *s, const struct xattrs *xattrs,
		      struct change *c)
{
	if (s->in_new)
		c->flags |= CHANGE_IN_NEW;
	if (s->in_gone)
		c->flags |= CHANGE_IN_GONE;
	if (git_is_unit(s->git, s->name))
		c->flags |= CHANGE_GIT;
	if (entry_is_special(&s->new))
		c->flags |= CHANGE_SPECIAL;
	if (xattrs->has_capability ||
	    (s->new.type == ENTRY_FILE && (s->new.mode & 06000)))
		c->flags |= CHANGE_SETID;
	if (has_names(&s->new))
		c->link_group = s->new.ino;
	if (has_names(&s->old) && !conflict_is_touched(rule, s))
		c->flags |= CHANGE_OLD_LINKED;
}

static void hash_number(struct sha256 *h, uint64_t number)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (56 - 8 * i));
	sha256_add(h, bytes, sizeof(bytes));
}

/* As much of the path as the one before has, and the rest. */
static int hash_path(struct scan *scan, const char *path, struct hb_error *err)
{
	size_t shared = 0, n;
	int r;

	while (shared < scan->hashed.len &&
	       path[shared] == scan->hashed.data[shared])
		shared++;
	n = strlen(path + shared);
	hash_number(&scan->hash, shared);
	hash_number(&scan->hash, n);
	sha256_add(&scan->hash, path + shared, n);
	buf_cut(&scan->hashed, shared);
	r = buf_add(&scan->hashed, path + shared, n);
	return r < 0 ? hb_fail(err, r, "cannot hash the changes") : 0;
}

static int hash_change(struct scan *scan, const struct sighting *s,
		       const struct xattrs *xattrs, const struct change *c,
		       struct hb_error *err)
{
	struct sha256 *h = &scan->hash;
	struct side side = new_side(s);
	uint8_t content[SHA256_SIZE];
	int r;

	r = hash_path(scan, c->path, err);
	if (r < 0)
		return r;
	hash_number(h, (uint64_t)c->kind);
	hash_number(h, c->what);
	hash_number(h, s->new.type);
	if (s->new.type == ENTRY_NONE)
		return 0;
	r = side_content(&side, content, err);
	if (r < 0)
		return r;
	hash_number(h, s->new.mode);
	hash_number(h, s->new.uid);
	hash_number(h, s->new.gid);
	if (s->new.type != ENTRY_DIR) {
		hash_number(h, s->new.size);
		hash_number(h, s->new.nlink);
		hash_number(h, (uint64_t)s->new.mtime.tv_sec);
		hash_number(h, (uint64_t)s->new.mtime.tv_nsec);
	}
	sha256_add(h, xattrs->digest, sizeof(xattrs->digest));
	sha256_add(h, content, sizeof(content));
	return 0;
}

static uint64_t *counter(struct changes_summary *sum, enum change_kind kind)
{
	switch (kind) {
	case CHANGE_ADDED:
		return &sum->n_added;
	case CHANGE_MODIFIED:
		return &sum->n_modified;
	case CHANGE_DELETED:
		return &sum->n_deleted;
	case CHANGE_TYPE:
		return &sum->n_type;
	case CHANGE_ATTRIBUTES:
		return &sum->n_attributes;
	case CHANGE_TIMES:
	default:
		return &sum->n_times;
	}
}

static void count_dir(struct changes_summary *sum, const struct change *c)
{
	if (c->kind == CHANGE_ADDED)
		sum->n_dirs_added += c->new.type == ENTRY_DIR;
	else if (c->kind == CHANGE_DELETED)
		sum->n_dirs_deleted += c->old.type == ENTRY_DIR;
	else
		sum->n_dirs_changed += c->new.type == ENTRY_DIR;
}

void changes_count(struct changes_summary *sum, const struct change *c)
{
	sum->n_changes++;
	if (c->flags & CHANGE_LOCK) {
		sum->n_locks++;
		return;
	}
	if (c->flags & CHANGE_IGNORED) {
		if (c->new.type == ENTRY_DIR ||
		    (c->new.type == ENTRY_NONE && c->old.type == ENTRY_DIR))
			sum->n_dirs_ignored++;
		else
			sum->n_ignored++;
		if (c->new.type == ENTRY_FILE)
			sum->ignored_bytes += c->new.size;
		return;
	}
	if (c->flags & CHANGE_GIT) {
		sum->n_git++;
	} else {
		++*counter(sum, c->kind);
		count_dir(sum, c);
	}
	if (c->flags & CHANGE_CONFLICT)
		sum->n_conflicts++;
	if (c->new.type == ENTRY_FILE &&
	    (c->kind == CHANGE_ADDED || c->kind == CHANGE_TYPE ||
	     (c->what & CHANGED_CONTENT)))
		sum->bytes += c->new.size;
}

/* Whether the base has the file at that path, as a file. */
static bool has_real(int base, const char *path)
{
	const char *slash = strrchr(path, '/');
	auto_fd int dir = access_open_below(
		base, path, slash ? (size_t)(slash - path) : 0, O_PATH, NULL);
	struct entry e;

	return dir >= 0 &&
	       entry_read_base(dir, slash ? slash + 1 : path, &e, NULL) >= 0 &&
	       e.type == ENTRY_FILE;
}

/*
 * Only the real file itself can be where its stand-in is; what the session
 * wrote without having read it is for the user to choose.  A directory cannot
 * have a second name, and an unreadable directory cannot be copied.
 */
static enum conflict of_stand_in(const struct scan *scan,
				 const struct sighting *s)
{
	struct standin in;

	if (s->new.type == ENTRY_DIR ||
	    standin_read(s->layer_dir, s->name, &s->new, &in) < 0)
		return CONFLICT_STAND_IN;
	if (in.is_touched)
		return s->new.size > 0 ? CONFLICT_UNREAD : CONFLICT_STAND_IN;
	return has_real(scan->request->resource->base, in.real)
		       ? CONFLICT_NONE
		       : CONFLICT_STAND_IN;
}

/* Whether it stands where the real file is: that is no change. */
static bool is_at_home(const struct sighting *s)
{
	struct standin in;

	return s->new.is_stand_in &&
	       s->old.type == s->new.type &&standin_read(s->layer_dir, s->name,
							 &s->new, &in) >= 0 &&
	       !in.is_touched &&strcmp(in.real, s->path) == 0;
}

/* One that is committed by its rows: its files change together or not. */
static bool judge_listed(const struct scan *scan, const struct sighting *s,
			 enum conflict *ret_conflict)
{
	enum database_part part;
	auto_free char *main = NULL;

	if (s->base_dir < 0 ||
	    !database_is_listed(scan->request->resource, s->path, &part))
		return false;
	main = strndup(s->path,
		       strlen(s->path) - strlen(database_endings[part]));
	*ret_conflict = conflict_disputed(&scan->rule, s->path);
	if (!main || (*ret_conflict == CONFLICT_NONE &&
		      database_is_touched(&scan->rule, s->base_dir, main)))
		*ret_conflict = CONFLICT_EDITED;
	return true;
}

static int judge(struct scan *scan, const struct sighting *s, struct change *c,
		 enum database_part part, enum conflict *ret_conflict,
		 struct hb_error *err)
{
	enum conflict unit;
	int r = 0;

	if (judge_listed(scan, s, ret_conflict))
		return 0;
	if (s->new.is_stand_in) {
		*ret_conflict = of_stand_in(scan, s);
		return 0;
	}
	*ret_conflict = conflict_of(&scan->rule, s, c->kind);
	if (*ret_conflict != CONFLICT_NONE && s->doubt == CONFLICT_NONE &&
	    conflict_disputed(&scan->rule, s->path) == CONFLICT_NONE)
		*ret_conflict = settled_by_git(scan->request->resource, s, c,
					       *ret_conflict);
	if (settled_new_object(scan->request->resource, s, *ret_conflict))
		*ret_conflict = CONFLICT_NONE;
	/* It came with the file to a name that the base never had. */
	if (*ret_conflict == CONFLICT_MISSING && has_names(&s->new) &&
	    !origin_is_of(s->layer_dir, s->name, &s->new, s->path))
		*ret_conflict = CONFLICT_NONE;
	if (*ret_conflict != CONFLICT_NONE && *ret_conflict != CONFLICT_LOST &&
	    *ret_conflict != CONFLICT_UNREADABLE)
		r = explained_by_layers(scan->request->resource, s, err);
	if (r > 0)
		*ret_conflict = CONFLICT_NONE;
	if (r < 0 || part == DATABASE_NONE)
		return r < 0 ? r : 0;
	unit = database_conflict(&scan->rule, s, part, &c->holder);
	if (*ret_conflict == CONFLICT_NONE || conflict_is_firm(unit))
		*ret_conflict = unit;
	return 0;
}

/* What is older than what a session with the same layer has committed. */
static bool is_outdated(const struct scan *scan, const struct sighting *s)
{
	const struct changes_peers *peers = scan->request->resource->peers;

	return peers && s->has_layer && s->layer > 0 &&
	       peers->have_committed(peers->ctx, s->layer, s->path, s->old.ino,
				     s->old.ctime);
}

static int add(struct scan *scan, const struct sighting *s,
	       const struct xattrs *xattrs, struct change *c,
	       enum conflict conflict, struct hb_error *err)
{
	struct spilled record = { .conflict = conflict };
	int r;

	if (!(c->flags & (CHANGE_CARRIED | CHANGE_BEGUN))) {
		if (conflict_is_by_clock(&scan->rule, conflict))
			record.conflict = CONFLICT_CLOCK;
		if (record.conflict != CONFLICT_NONE)
			c->flags |= CHANGE_CONFLICT;
		if (conflict_is_firm(record.conflict))
			c->flags |= CHANGE_FIRM;
		changes_count(&scan->changes->summary, c);
		if (!scan->request->without_hash &&
		    !(c->flags & CHANGE_IGNORED)) {
			r = hash_change(scan, s, xattrs, c, err);
			if (r < 0)
				return r;
		}
		if (c->kind == CHANGE_ADDED || c->kind == CHANGE_DELETED) {
			r = renames_note(&scan->changes->renames, c,
					 scan->number,
					 conflict == CONFLICT_MISSING, err);
			if (r < 0)
				return r;
		}
	}
	scan->number++;
	record.change = *c;
	return spill_add(&scan->changes->spill, &record, err);
}

static const struct entry *recall(void *ctx, const char *path,
				  size_t *ret_layer)
{
	struct scan *scan = ctx;

	scan->earlier = known_find(&scan->known, path);
	if (!scan->earlier)
		return NULL;
	*ret_layer = scan->earlier->change.layer;
	return &scan->earlier->change.new;
}

/*
 * Whether both sides are as they were when their contents were found to differ.
 * Not for a hash, which reads them anyway.
 */
static bool is_known(const struct scan *scan, const struct sighting *s)
{
	const struct spilled *earlier = scan->earlier;

	return earlier && scan->request->without_hash &&
	       (earlier->change.what & (CHANGED_CONTENT | CHANGED_TARGET)) &&
	       (scan->request->names_only ||
		!(earlier->change.what & CHANGED_MAYBE_XATTRS)) &&
	       entry_is_untouched(&earlier->change.new, &s->new) &&
	       entry_is_untouched(&earlier->change.old, &s->old);
}

static int compare_anew(struct scan *scan, const struct sighting *s,
			struct xattrs *xattrs, struct change *c,
			struct hb_error *err)
{
	struct side side = new_side(s);
	int r;

	if (s->new.type != ENTRY_NONE) {
		r = side_xattrs(&side, xattrs, err);
		if (r < 0)
			return r;
	}
	r = classify(s, xattrs, scan->request->names_only, c, err);
	if (c->what & (CHANGED_CONTENT | CHANGED_TARGET))
		scan->has_learned = true;
	return r;
}

/*
 * If the base had it: not even what is new in it can be committed without
 * making it again.
 */
static bool is_lost_dir(const struct sighting *s)
{
	return s->old.type == ENTRY_NONE && s->new.type == ENTRY_DIR;
}

/*
 * A path counts by its new object, a deleted path by its old one.  The side
 * files of a database are ignored if the database is.  The file that programs
 * share while it is open is of no use to others.
 */
static int ask_ignored(struct scan *scan, const struct sighting *s,
		       enum database_part part, struct change *c,
		       struct hb_error *err)
{
	const struct entry *e = s->new.type != ENTRY_NONE ? &s->new : &s->old;
	size_t n = strlen(s->path);
	enum database_part listed;
	auto_free char *main = NULL;
	struct ignored_question q = {
		.path = s->path,
		.is_directory = e->type == ENTRY_DIR,
		.dir = s->base_dir,
	};
	bool is_lock = (e->type == ENTRY_FILE && !s->in_gone &&
			git_is_lock(s->git, s->name)) ||
		       settled_object(scan->request->resource, s, c);
	int r;

	if (part != DATABASE_NONE)
		c->flags |= CHANGE_DATABASE;
	if (is_lock || (part == DATABASE_INDEX && !s->in_gone) ||
	    (scan->request->resource->holds_databases &&
	     database_is_listed(scan->request->resource, s->path, &listed))) {
		c->ignored_top = n;
		c->flags |= CHANGE_IGNORED | (is_lock ? CHANGE_LOCK : 0);
		return 0;
	}
	if (part != DATABASE_NONE) {
		(void)database_part_of_name(s->path, &n);
		q.path = main = strndup(s->path, n);
		if (!main)
			return hb_fail(err, -ENOMEM, "cannot compare");
	}
	r = scan->ignored ? ignored_ask(scan->ignored, &q, &c->ignored_top, err)
			  : 0;
	if (r > 0)
		c->flags |= CHANGE_IGNORED;
	if (r > 0 && c->ignored_top == n)
		c->ignored_top = strlen(s->path);
	return r < 0 ? r : 0;
}

/* Whether all that lies below the directory is in conflict because of it. */
static int doubt_below(struct scan *scan, struct sighting *s,
		       struct hb_error *err)
{
	int r;

	s->doubt_below = conflict_below(&scan->rule, s);
	if (s->doubt_below != CONFLICT_MOVED)
		return 0;
	r = explained_by_layers(scan->request->resource, s, err);
	if (r > 0)
		s->doubt_below = CONFLICT_PLACED;
	return r;
}

/* An opaque directory may move whole: in it a user's edit is a conflict. */
static bool is_committed(const struct scan *scan, const struct sighting *s)
{
	return !s->is_opaque && !s->in_hidden &&
	       conflict_is_committed(&scan->rule, s);
}

/* The file is as it was, and the database is another one all the same. */
static bool has_rows_beside(const struct scan *scan, const struct sighting *s)
{
	const struct resource *resource = scan->request->resource;
	enum database_part part;

	return s->old.type == ENTRY_FILE &&
	       s->new.type == ENTRY_FILE &&database_is_listed(resource, s->path,
							      &part) &&
	       part == DATABASE_MAIN &&database_has_log(resource, s->path);
}

static int see(void *ctx, struct sighting *s, struct hb_error *err)
{
	struct scan *scan = ctx;
	enum conflict conflict = CONFLICT_NONE;
	enum database_part part;
	bool has_log;
	struct xattrs xattrs = { 0 };
	struct change c = {
		.path = s->path,
		.old = s->old,
		.new = s->new,
		.layer = s->layer,
	};
	int r;

	r = doubt_below(scan, s, err);
	if (r < 0)
		return r;
	has_log = has_rows_beside(scan, s);
	if (!has_log && is_committed(scan, s)) {
		if (!is_lost_dir(s))
			return WALK_SKIP;
		if (!git_is_object_path(
			    git_root(scan->request->resource->is_git), s->path))
			s->doubt_below = CONFLICT_LOST;
		c.kind = CHANGE_ADDED;
		c.flags = CHANGE_CARRIED;
		r = add(scan, s, &xattrs, &c, CONFLICT_NONE, err);
		return r < 0 ? r : WALK_ON;
	}
	if (is_at_home(s))
		return WALK_ON;
	if (is_known(scan, s)) {
		c.kind = CHANGE_MODIFIED;
		c.what = scan->earlier->change.what;
		c.flags = scan->earlier->change.flags & CHANGE_SETID;
	} else {
		r = compare_anew(scan, s, &xattrs, &c, err);
		if (r == 0 && has_log) {
			c.kind = CHANGE_MODIFIED;
			c.what = CHANGED_CONTENT;
			r = 1;
		}
		if (r <= 0)
			return r;
	}
	if (is_outdated(scan, s))
		return WALK_ON;
	part = database_part_of(s);
	if (s->new.has_origin && has_names(&s->new) &&
	    s->old.type == s->new.type)
		renames_note_name(&scan->changes->renames, s->new.ino);
	set_flags(&scan->rule, s, &xattrs, &c);
	r = begun_mark(scan->request->resource->begun, s, &c, err);
	if (r == 0)
		r = ask_ignored(scan, s, part, &c, err);
	if (r < 0)
		return r;
	r = c.flags & (CHANGE_CARRIED | CHANGE_BEGUN)
		    ? 0
		    : judge(scan, s, &c, part, &conflict, err);
	if (conflict == CONFLICT_MISSING && is_lost_dir(s))
		s->doubt_below = CONFLICT_LOST;
	if (r >= 0)
		r = add(scan, s, &xattrs, &c, conflict, err);
	return r < 0 ? r : WALK_ON;
}

bool change_is_top(const struct change *change)
{
	return strcmp(change->path, ".") == 0;
}

/* The directory itself, which the walk begins in and does not show. */
static int see_top(struct scan *scan, struct hb_error *err)
{
	const struct resource *q = scan->request->resource;
	struct top_change top;
	struct change c = { .path = ".", .kind = CHANGE_ATTRIBUTES };
	struct sighting s = { .path = ".", .name = "." };
	enum conflict conflict;
	int r;

	r = q->top >= 0 ? top_compare(q, &top, err) : 0;
	if (r <= 0)
		return r;
	c.what = top.what;
	c.old = s.old = top.old;
	c.new = s.new = top.new;
	s.base_dir = q->base;
	s.layer_dir = q->layers[0];
	conflict = top.is_conflict ? CONFLICT_DIR
				   : conflict_disputed(&scan->rule, "");
	return add(scan, &s, &top.xattrs, &c, conflict, err);
}

/* Renames are told apart from what was counted while they were not known. */
static void settle_renames(struct changes *changes, bool with_renames)
{
	const struct rename_side *added = &changes->renames.added;

	for (size_t i = 0; i < added->n; i++) {
		if (renames_explain(&added->ends[i]))
			changes->summary.n_conflicts--;
		if (!added->ends[i].other || !with_renames ||
		    renames_is_split(&changes->renames, &added->ends[i]))
			continue;
		changes->summary.n_added--;
		changes->summary.n_deleted--;
		changes->summary.n_renamed++;
	}
}

static int scan_run(struct scan *scan, struct hb_error *err)
{
	const struct changes_request *request = scan->request;
	const struct resource *resource = request->resource;
	struct changes *changes = scan->changes;
	struct walk_request walk = {
		.base = resource->base,
		.layers = resource->layers,
		.n_layers = resource->n_layers,
		.is_git = resource->is_git,
		.spill_dir = request->spill_dir,
		.store_name = resource->store_name,
		.sight = see,
		.known = request->known ? recall : NULL,
		.ctx = scan,
		.listener = request->listener,
	};
	int r = 0;

	sha256_init(&scan->hash);
	sha256_add(&scan->hash, HASH_VERSION, strlen(HASH_VERSION));
	/* Without a directory nothing can be told to have changed. */
	if (resource->base >= 0)
		r = see_top(scan, err);
	if (r >= 0 && resource->base >= 0)
		r = walk_run(&walk, err);
	if (r < 0)
		return r;
	if (!request->without_hash)
		sha256_end(&scan->hash, changes->summary.hash);
	renames_resolve(&changes->renames, resource, request->with_renames);
	settle_renames(changes, request->with_renames);
	changes->with_renames = request->with_renames;
	r = changes_rewind(changes, err);
	if (r >= 0 && request->keeps_known && scan->has_learned)
		known_keep(&changes->spill, request->spill_dir, request->known,
			   request->boot);
	return r;
}

static int scan_once(const struct changes_request *request,
		     struct changes **ret_changes, struct hb_error *err)
{
	const struct resource *resource = request->resource;
	struct changes *changes = calloc(1, sizeof(*changes));
	struct scan scan = {
		.request = request,
		.changes = changes,
		.rule = { .t0 = resource->t0,
			  .seen = request->seen,
			  .seen_ctx = request->seen_ctx },
	};
	struct sys_space space;
	int r;

	if (!changes)
		return hb_fail(err, -ENOMEM, "cannot compare");
	changes->resource = resource->number;
	scan.rule.is_overlay =
		sys_space(resource->base, &space) == 0 && space.is_overlay;
	buf_init(&scan.hashed, PATH_TREE_MAX);
	if (request->known)
		known_open(&scan.known, request->spill_dir, request->known,
			   request->boot);
	if (request->ignores)
		scan.ignored = ignored_new(resource->base, resource->git);
	r = request->ignores && !scan.ignored
		    ? hb_fail(err, -ENOMEM, "cannot compare")
		    : spill_init(&changes->spill, request->spill_dir, err);
	if (r >= 0)
		r = scan_run(&scan, err);
	if (scan.ignored)
		changes->summary.n_unjudged = ignored_unjudged(scan.ignored);
	ignored_free(scan.ignored);
	buf_done(&scan.hashed);
	if (request->known)
		known_done(&scan.known);
	if (r < 0) {
		changes_free(changes);
		return r;
	}
	*ret_changes = changes;
	return 0;
}

int changes_scan(const struct changes_request *request,
		 struct changes **ret_changes, struct hb_error *err)
{
	struct hb_error why = { 0 };
	int r = -HB_E_BUSY;

	/* The base belongs to a user who may be saving a file right now. */
	for (int i = 0; i < SCAN_TRIES && (r == -HB_E_BUSY || r == -ENOENT);
	     i++) {
		why = (struct hb_error){ 0 };
		r = scan_once(request, ret_changes, &why);
	}
	return hb_pass(err, &why, r);
}

void changes_free(struct changes *changes)
{
	if (!changes)
		return;
	spill_done(&changes->spill);
	renames_done(&changes->renames);
	delivered_done(&changes->delivered);
	free(changes);
}

const struct changes_summary *changes_summary(const struct changes *changes)
{
	return &changes->summary;
}

int changes_rewind(struct changes *changes, struct hb_error *err)
{
	changes->number = 0;
	changes->n_passed = 0;
	renames_rewind(&changes->renames);
	return spill_rewind(&changes->spill, err);
}

static void lay_renames_over(struct changes *changes, struct change *c)
{
	struct renames *renames = &changes->renames;
	const struct rename_end *end;

	end = renames_added(renames, changes->number);
	if (end && renames_explain(end)) {
		c->flags &= ~(unsigned)CHANGE_CONFLICT;
		c->why = NULL;
		c->conflict = CONFLICT_NONE;
	}
	if (end && end->other && changes->with_renames &&
	    !renames_is_split(renames, end)) {
		c->flags |= CHANGE_RENAMED;
		end = &renames->deleted.ends[end->other - 1];
		c->from = end->path;
		c->from_entry = &end->entry;
	}
	end = renames_deleted(renames, changes->number);
	if (end && end->other && changes->with_renames && !end->is_ignored &&
	    !end->is_disputed)
		c->flags |= CHANGE_MOVED_AWAY;
}

int changes_next(struct changes *changes, struct change *ret_change,
		 struct hb_error *err)
{
	struct spilled record;
	int r;

	r = spill_next(&changes->spill, &record, err);
	if (r <= 0)
		return r;
	lay_renames_over(changes, &record.change);
	delivered_lay_over(changes, &record.change);
	changes->number++;
	*ret_change = record.change;
	ret_change->resource = changes->resource;
	return 1;
}
