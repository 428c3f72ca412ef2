/* SPDX-License-Identifier: Apache-2.0 */
#include "review/changeset.h"

#include "changes/changes.h"
#include "changes/conflict.h"
#include "changes/filter.h"
#include "changes/git/deliver.h"
#include "changes/part.h"
#include "review/find.h"
#include "review/git/deliveries.h"
#include "review/git/deliveries_told.h"
#include "session/alike_notes.h"
#include "session/interruption.h"
#include "session/open.h"
#include "store/boot.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "changes/since.h"
#include "review/found.h"
#include "review/wanted.h"
#include "session/layers.h"
#include "session/session.h"
#include "store/progress.h"
#include "sys/attr.h"
#include "tree/content.h"
#include "txn/survey.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The change set of a session: those of its resources, one after the other,
 * through the filter that commit uses as well.
 */
struct hb_changes {
	struct changes **resources;
	struct since **since; /* instead of these; NULL: no mark was named */
	size_t n, at;
	bool folds_renames; /* the two ends are one line */
	/* What the filter leaves, by resource; NULL: everything. */
	struct survey *surveys;
	uint64_t n_dirs; /* that the resource has had so far, for `surveys` */
	struct changes_filter filter;
	struct wanted wanted;	       /* what the filter points to */
	struct changes_choice staying; /* its `ours` alone; borrowed */
	struct hb_summary summary;
	struct found found;

	/* Where the sides lie; borrowed from the session. */
	const struct resource *roots;
	struct change last;		 /* what hb_changes_next() gave */
	struct since_side last_sides[2]; /* with `since`: by enum hb_side */
	bool has_last;
	int sides[2]; /* its files, by enum hb_side, or -1 */
};

/* "compared-" and the number of a resource. */
#define KNOWN_NAME_SIZE 32

static int next_of_all(struct hb_changes *changes, struct hb_change *ret_change,
		       struct hb_error *err);

/* How many layers of each resource, with the upper, came after the mark. */
static int count_above(const struct hb_session *s, const char *mark,
		       size_t *ret_above, struct hb_error *err)
{
	uint64_t done = 0;
	size_t number = 0;
	int r;

	r = session_find_mark(s, mark, &number, err);
	if (r >= 0)
		r = session_last_done(s, &done, err);
	if (r < 0)
		return r;
	if (!layer_counts(&s->record.layers[number], done)) {
		hb_fix(err, "without --since: all pending changes");
		return hb_fail(err, -HB_E_STATE,
			       "mark '%s' is a copy of a live session, and the "
			       "changes after it are not kept apart",
			       mark);
	}
	*ret_above = 1;
	for (size_t i = number + 1; i < s->record.n_layers; i++)
		*ret_above += layer_counts(&s->record.layers[i], done);
	return 0;
}

/*
 * What a commit would make of repositories.  If that cannot be told, their
 * files are listed as any others.
 */
static void lay_deliveries(struct hb_session *s,
			   const struct hb_changes_options *options,
			   struct hb_changes *c)
{
	auto_deliver struct deliver deliver = {
		.session = s,
		.asked = options->as_branch ? HB_GIT_BRANCH : options->git,
		.as_branch = options->as_branch,
		.is_ahead = true,
	};
	const struct changes_choice choice = { .filter = c->filter };
	struct delivered lists[RECORD_RESOURCES_MAX] = { 0 };
	int r = deliver_decide(&deliver, c->resources, &choice, lists, NULL);

	for (size_t i = 0; i < c->n; i++) {
		if (r >= 0)
			changes_lay(c->resources[i], &lists[i]);
		delivered_done(&lists[i]);
	}
	if (r >= 0 || r == -HB_E_CONFLICT)
		(void)deliver_tell(&deliver);
}

static int scan(struct hb_session *s, const struct hb_changes_options *options,
		struct hb_changes *c, struct hb_error *err)
{
	const char *mark = options->since;
	size_t above = 0;
	auto_progress struct progress progress = PROGRESS_NONE;
	char boot[RECORD_BOOT_SIZE], known[KNOWN_NAME_SIZE];
	struct txn *txn = NULL;
	int r;

	/* Half of it lies here, half there: no list of it would be true. */
	if (s->info.interrupted && session_has_journal(s))
		return session_fail_interrupted(s, err);
	/* Where it cannot be done it is listed, as it is while a box runs. */
	if (s->has_lock)
		(void)session_drop_alike(s, NULL);
	r = mark ? count_above(s, mark, &above, err) : 0;
	if (r >= 0)
		r = session_txn(s, &txn, err);
	progress_begin(&progress, s->store, "looking for changes");
	if (r >= 0)
		r = boot_id(boot, err);
	for (size_t i = 0; r >= 0 && i < txn->n_resources; i++) {
		const struct resource *resource = &txn->resources[i];
		const struct changes_request request = {
			.resource = resource,
			.spill_dir = s->dir,
			.seen = txn->seen,
			.seen_ctx = txn->seen_ctx[i],
			.known = s->taken ? NULL : known,
			.boot = boot,
			.keeps_known = s->has_lock && !s->taken,
			.ignores = !options->with_ignored,
			.with_renames = c->folds_renames,
			.without_hash = options->without_hash,
			.names_only =
				options->without_hash && options->names_only,
			.listener = &progress.listener,
		};

		(void)snprintf(known, sizeof(known), "compared-%s%zu",
			       resource->is_gone ? "g" : "", i);
		r = mark ? since_open(&request, above, &c->since[i], err)
			 : part_of(resource)->changes(&request,
						      &c->resources[i], err);
		if (r >= 0)
			c->n++;
	}
	if (r >= 0)
		c->roots = txn->resources;
	if (r >= 0 && !mark)
		lay_deliveries(s, options, c);
	return r;
}

/* A directory with something that stays is not going to be deleted. */
static int survey(struct hb_changes *c, struct hb_error *err)
{
	const struct txn_options options = { .choice.filter = c->filter };
	bool has_rest = changes_filter_is_partial(&c->filter);
	int r = 0;

	for (size_t i = 0; i < c->n && !c->since; i++)
		has_rest |= changes_summary(c->resources[i])->n_ignored > 0 ||
			    changes_summary(c->resources[i])->n_locks > 0;
	if (!has_rest || c->since || c->n == 0)
		return 0;
	c->surveys = calloc(c->n, sizeof(*c->surveys));
	if (!c->surveys)
		return hb_fail(err, -ENOMEM, "cannot look for changes");
	for (size_t i = 0; r >= 0 && i < c->n; i++)
		r = survey_run(&c->surveys[i], c->resources[i], &options, err);
	return r < 0 ? r : hb_changes_rewind(c, err);
}

/* Of every change in turn, because directories are numbered. */
static bool is_kept(struct hb_changes *c, const struct change *change)
{
	return c->surveys && survey_is_whole_dir(change) &&
	       survey_keeps_dir(&c->surveys[c->at], change, c->n_dirs++);
}

static void hash(struct hb_changes *c)
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 h;

	if (c->n == 1) {
		sha256_hex(changes_summary(c->resources[0])->hash,
			   c->summary.hash);
		return;
	}
	sha256_init(&h);
	for (size_t i = 0; i < c->n; i++)
		sha256_add(&h, changes_summary(c->resources[i])->hash,
			   SHA256_SIZE);
	sha256_end(&h, digest);
	sha256_hex(digest, c->summary.hash);
}

static void count(struct hb_summary *sum, const struct hb_change *change)
{
	sum->n_conflicts += change->has_conflict;
	if (change->kind != 'D')
		sum->bytes += change->is_directory ? 0 : change->size;
	if (change->is_git) {
		sum->n_git++;
		return;
	}
	if (change->kind == 't') {
		sum->n_times++;
		return;
	}
	if (change->is_directory) {
		sum->n_directories++;
		return;
	}
	sum->n_files++;
	switch (change->kind) {
	case 'A':
		sum->n_added++;
		break;
	case 'D':
		sum->n_deleted++;
		break;
	case 'R':
		sum->n_renamed++;
		break;
	default:
		sum->n_changed++;
		break;
	}
}

static void count_ignored(struct hb_summary *sum,
			  const struct hb_change *change)
{
	sum->n_ignored += !change->is_directory;
	sum->n_ignored_directories += change->is_directory;
	sum->ignored_bytes += change->size;
}

static int summarise(struct hb_changes *c, bool with_hash, struct hb_error *err)
{
	struct hb_change change;
	int r;

	if (with_hash)
		hash(c);
	for (size_t i = 0; i < c->n; i++)
		c->summary.n_unjudged +=
			c->since ? since_unjudged(c->since[i])
				 : changes_summary(c->resources[i])->n_unjudged;
	while ((r = next_of_all(c, &change, err)) == 1)
		if (c->last.flags & CHANGE_LOCK)
			c->summary.n_locks++;
		else if (c->last.flags & CHANGE_IGNORED)
			count_ignored(&c->summary, &change);
		else if (changes_choice_keeps_real(&c->staying, &c->last))
			c->summary.n_conflicts++;
		else
			count(&c->summary, &change);
	return r < 0 ? r : hb_changes_rewind(c, err);
}

int session_look_once(struct hb_session *session,
		      const struct hb_changes_options *options,
		      struct hb_changes **ret_changes, struct hb_error *err)
{
	struct hb_changes *c;
	int r;

	c = calloc(1, sizeof(*c));
	if (!c)
		return hb_fail(err, -ENOMEM, "cannot look for changes");
	c->sides[HB_SIDE_OLD] = c->sides[HB_SIDE_NEW] = -1;
	r = wanted_filter(session, &options->filter, &c->wanted, &c->filter,
			  err);
	if (r < 0) {
		hb_changes_free(c);
		return r;
	}
	c->staying.ours = options->ours;
	c->staying.n_ours = options->n_ours;
	/* A filter may take one end and leave the other. */
	c->folds_renames = !changes_filter_is_partial(&c->filter);
	c->resources =
		calloc(session->record.n_resources, sizeof(struct changes *));
	if (options->since)
		c->since = calloc(session->record.n_resources,
				  sizeof(struct since *));
	r = c->resources && (c->since || !options->since)
		    ? 0
		    : hb_fail(err, -ENOMEM, "cannot look for changes");
	if (r >= 0)
		r = scan(session, options, c, err);
	if (r >= 0)
		r = survey(c, err);
	if (r >= 0)
		r = summarise(c, !options->without_hash && !c->since, err);
	if (r < 0) {
		hb_changes_free(c);
		return r;
	}
	*ret_changes = c;
	return 0;
}

static void forget_last(struct hb_changes *changes)
{
	fd_closep(&changes->sides[HB_SIDE_OLD]);
	fd_closep(&changes->sides[HB_SIDE_NEW]);
	changes->has_last = false;
}

void hb_changes_free(struct hb_changes *changes)
{
	if (!changes)
		return;
	for (size_t i = 0; changes->resources && i < changes->n; i++)
		changes_free(changes->resources[i]);
	for (size_t i = 0; changes->since && i < changes->n; i++)
		since_free(changes->since[i]);
	free(changes->since);
	for (size_t i = 0; changes->surveys && i < changes->n; i++)
		survey_done(&changes->surveys[i]);
	free(changes->surveys);
	wanted_done(&changes->wanted);
	forget_last(changes);
	found_done(&changes->found);
	free(changes->resources);
	free(changes);
}

struct changes *session_changes_of(struct hb_changes *changes, size_t resource)
{
	return changes->since ? NULL : changes->resources[resource];
}

struct found *session_changes_found(struct hb_changes *changes)
{
	return &changes->found;
}

bool session_changes_review(struct hb_changes *changes,
			    const struct changes_filter *filter,
			    struct changes *const **ret_changes,
			    const char **ret_hash)
{
	if (changes->since || !changes->summary.hash[0] ||
	    !changes_filter_is_same(&changes->filter, filter, changes->n))
		return false;
	*ret_changes = changes->resources;
	*ret_hash = changes->summary.hash;
	return true;
}

const struct changes_filter *
session_changes_filter(const struct hb_changes *changes)
{
	return &changes->filter;
}

const struct hb_summary *hb_changes_summary(const struct hb_changes *changes)
{
	return &changes->summary;
}

int hb_changes_rewind(struct hb_changes *changes, struct hb_error *err)
{
	int r = 0;

	forget_last(changes);
	changes->at = 0;
	changes->n_dirs = 0;
	for (size_t i = 0; r >= 0 && i < changes->n; i++)
		r = changes->since ? since_rewind(changes->since[i], err)
				   : changes_rewind(changes->resources[i], err);
	return r < 0 ? r : 0;
}

/* The same numbers in the same order. */
static_assert((int)HB_TYPE_DEVICE == (int)ENTRY_DEVICE &&
		      (int)HB_TYPE_LINK == (int)ENTRY_LINK,
	      "types are told as they are known");

static struct hb_object object_from(const struct entry *e)
{
	bool is_sized = e->type == ENTRY_FILE || e->type == ENTRY_LINK;

	return (struct hb_object){
		.type = (enum hb_type)e->type,
		.mode = e->mode,
		.uid = e->uid,
		.gid = e->gid,
		.size = is_sized ? e->size : 0,
	};
}

static unsigned differs(unsigned what)
{
	static const struct {
		unsigned what, differs;
	} table[] = {
		{ CHANGED_CONTENT | CHANGED_TARGET, HB_DIFFERS_CONTENT },
		{ CHANGED_MODE, HB_DIFFERS_MODE },
		{ CHANGED_OWNER, HB_DIFFERS_OWNER },
		{ CHANGED_XATTRS, HB_DIFFERS_XATTRS },
		{ CHANGED_MTIME, HB_DIFFERS_TIME },
		{ CHANGED_LINKS, HB_DIFFERS_LINKS },
	};
	unsigned all = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (what & table[i].what)
			all |= table[i].differs;
	return all;
}

static const enum hb_asks asks_of[] = {
	[CHANGE_ASKS_NOTHING] = HB_ASKS_NOTHING,
	[CHANGE_ASKS_SPECIAL] = HB_ASKS_SPECIAL,
	[CHANGE_ASKS_SETID] = HB_ASKS_SETID,
	[CHANGE_ASKS_NEVER] = HB_ASKS_NEVER,
};

static void fill(const struct change *from, size_t resource,
		 struct hb_change *ret)
{
	bool is_renamed = from->flags & CHANGE_RENAMED && from->from;

	*ret = (struct hb_change){
		.kind = (char)from->kind,
		.is_directory = from->new.type == ENTRY_DIR ||
				(from->new.type == ENTRY_NONE &&
				 from->old.type == ENTRY_DIR),
		.is_git = (from->flags & CHANGE_GIT) != 0,
		.has_conflict = (from->flags & CHANGE_CONFLICT) != 0,
		.is_firm = (from->flags & CHANGE_FIRM) != 0,
		.is_held = from->conflict == CONFLICT_OPEN,
		.holder = from->holder,
		.resource = resource,
		.path = from->path,
		.from = is_renamed ? from->from : NULL,
		.why = from->why,
		.asks = asks_of[change_asks(from)],
		.size = from->new.type == ENTRY_FILE ? from->new.size : 0,
		.old = object_from(is_renamed ? from->from_entry : &from->old),
		.new = object_from(&from->new),
		.differs = differs(from->what),
	};
	if (is_renamed)
		ret->kind = 'R';
	if (from->old.type != ENTRY_NONE)
		ret->base_time = from->old.ctime;
	if (from->new.type != ENTRY_NONE)
		ret->session_time = from->new.ctime;
}

static int next_of(struct hb_changes *changes, struct change *ret,
		   struct hb_error *err)
{
	struct since_change since;
	int r;

	if (!changes->since)
		return changes_next(changes->resources[changes->at], ret, err);
	r = since_next(changes->since[changes->at], &since, err);
	if (r != 1)
		return r;
	*ret = since.change;
	changes->last_sides[HB_SIDE_OLD] = since.old;
	changes->last_sides[HB_SIDE_NEW] = since.new;
	return 1;
}

/* Also what is ignored; `last` tells. */
static int next_of_all(struct hb_changes *changes, struct hb_change *ret_change,
		       struct hb_error *err)
{
	struct change change = { 0 };
	int r;

	forget_last(changes);
	while (changes->at < changes->n) {
		r = next_of(changes, &change, err);
		if (r < 0)
			return r;
		if (r == 0) {
			changes->at++;
			changes->n_dirs = 0;
			continue;
		}
		change.resource = changes->at;
		if (is_kept(changes, &change) ||
		    change.flags & (CHANGE_CARRIED | CHANGE_MOVED_AWAY |
				    CHANGE_BEGUN) ||
		    !changes_filter_matches(&changes->filter, &change))
			continue;
		fill(&change, changes->at, ret_change);
		changes->last = change;
		changes->has_last = true;
		return 1;
	}
	return 0;
}

int hb_changes_next(struct hb_changes *changes, struct hb_change *ret_change,
		    struct hb_error *err)
{
	int r;

	do
		r = next_of_all(changes, ret_change, err);
	while (r == 1 && (changes->last.flags & CHANGE_IGNORED));
	return r;
}

/* Of the change before, and of what is to be told about it. */
struct fold {
	struct buf path;
	struct hb_ignored ignored;
	hb_ignored_fn fn;
	void *ctx;
};

static int end_fold(struct fold *f, struct hb_error *err)
{
	int r = 0;

	f->ignored.path = buf_str(&f->path);
	if (f->path.len > 0)
		r = f->fn(f->ctx, &f->ignored, err);
	buf_cut(&f->path, 0);
	return r;
}

static int add_to_fold(struct fold *f, const struct change *last,
		       const struct hb_change *change, struct hb_error *err)
{
	size_t top = last->ignored_top;
	int r = 0;

	if (f->path.len != top || f->ignored.resource != change->resource ||
	    memcmp(buf_str(&f->path), change->path, top) != 0) {
		r = end_fold(f, err);
		if (r < 0)
			return r;
		f->ignored =
			(struct hb_ignored){ .resource = change->resource };
		if (buf_add(&f->path, change->path, top) < 0)
			return hb_fail(err, f->path.error,
				       "cannot list the ignored files");
		f->ignored.is_directory =
			change->is_directory || change->path[top] == '/';
	}
	if (change->is_directory)
		return 0;
	if (change->kind == 'D')
		f->ignored.n_deleted++;
	else
		f->ignored.n_files++;
	f->ignored.bytes += change->size;
	return 0;
}

int hb_changes_ignored(struct hb_changes *changes, hb_ignored_fn fn, void *ctx,
		       struct hb_error *err)
{
	struct fold f = { .path = BUF_INIT(PATH_TREE_MAX),
			  .fn = fn,
			  .ctx = ctx };
	struct hb_change change;
	int r;

	r = hb_changes_rewind(changes, err);
	while (r >= 0 && (r = next_of_all(changes, &change, err)) == 1)
		if (changes->last.flags & CHANGE_IGNORED)
			r = add_to_fold(&f, &changes->last, &change, err);
	if (r >= 0)
		r = end_fold(&f, err);
	buf_done(&f.path);
	return r < 0 ? r : hb_changes_rewind(changes, err);
}

/* Where one side of the last change lies. */
static struct content_place place_of(const struct hb_changes *changes,
				     enum hb_side side)
{
	const struct resource *roots = &changes->roots[changes->at];
	const struct change *c = &changes->last;

	if (changes->since)
		return (struct content_place){
			.root = changes->last_sides[side].root,
			.in_layer = changes->last_sides[side].in_layer,
			.path = c->path,
			.entry = side == HB_SIDE_NEW ? &c->new : &c->old,
		};
	if (side == HB_SIDE_NEW)
		return (struct content_place){
			.root = roots->layers[c->layer],
			.in_layer = true,
			.path = c->path,
			.entry = &c->new,
		};
	return (struct content_place){
		.root = roots->base,
		.path = c->from ? c->from : c->path,
		.entry = c->from ? c->from_entry : &c->old,
	};
}

static ssize_t read_link(const struct content_place *place, void *buf,
			 size_t size, uint64_t offset, struct hb_error *err)
{
	char target[PATH_MAX + 1];
	ssize_t n = content_target(place, target, sizeof(target), err);

	if (n < 0 || offset >= (uint64_t)n)
		return n < 0 ? n : 0;
	n -= (ssize_t)offset;
	if ((size_t)n > size)
		n = (ssize_t)size;
	memcpy(buf, target + offset, (size_t)n);
	return n;
}

const struct change *session_changes_last(const struct hb_changes *changes,
					  const struct resource **ret_resource)
{
	if (!changes->has_last || changes->since)
		return NULL;
	*ret_resource = &changes->roots[changes->last.resource];
	return &changes->last;
}

ssize_t hb_changes_read(struct hb_changes *changes, enum hb_side side,
			void *buf, size_t size, uint64_t offset,
			struct hb_error *err)
{
	struct content_place place;
	int *fd = &changes->sides[side];
	ssize_t n;

	assert(changes->has_last);
	place = place_of(changes, side);
	if (place.entry->type == ENTRY_LINK)
		return read_link(&place, buf, size, offset, err);
	if (*fd < 0)
		*fd = content_open(&place, err);
	if (*fd < 0)
		return *fd;
	n = sys_pread_full(*fd, buf, size, offset);
	return n < 0 ? hb_fail(err, (int)n, "cannot read the changes") : n;
}
