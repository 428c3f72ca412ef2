/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/time.h"
#include "changes/walk.h"
#include "session/freeze.h"
#include "session/layers.h"
#include "session/live/taken.h"
#include "session/live/unmark.h"
#include "session/marks/copied.h"
#include "session/open.h"
#include "session/session.h"
#include "session/settle.h"
#include "store/berth.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/access.h"
#include "tree/entry.h"
#include "tree/overlay.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 * Taking the changes of a live session
 * ------------------------------------
 *
 *	journal	of a command that was killed: finished first
 *	frozen	each object of the upper is copied, unless it is what was
 *		committed from there; its identity is noted		[one]
 *		a new directory gets the marks of OVERLAY_TAKEN
 *		deletions without a whiteout get one in the copy	[end]
 *	thawed	the identities of the copies
 *
 * (a) An object is what was committed only if path, inode and change time say
 *     so.  There is no time before which nothing is looked at: after a rename
 *     of a directory the files in it have their old times.
 * (b) A program may write to a file by a mapping without a new change time,
 *     until the page was written back.  So each file is written
 *     back while the box is still.  Where that is impossible the file is
 *     compared by content each time.
 * (c) The marks are the only thing that is ever written to a live upper.
 */

/* What git has in its directory while something is under way. */
static const struct {
	const char *name, *what;
} git_work[] = {
	{ "rebase-merge", "a rebase" },
	{ "rebase-apply", "a rebase" },
	{ "MERGE_HEAD", "a merge" },
	{ "CHERRY_PICK_HEAD", "a cherry-pick" },
	{ "REVERT_HEAD", "a revert" },
	{ "index.lock", "a git command" },
	{ "HEAD.lock", "a git command" },
	{ "packed-refs.lock", "a git command" },
};

struct taking {
	struct hb_session *session;
	struct taken *taken;
	struct unmark marks; /* of the resource at hand */
	const char *git;     /* under way; NULL: nothing */
};

/* Of type copied_watch.begin. */
static void begin(void *ctx)
{
	struct taking *t = ctx;

	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++) {
		struct taken_resource *r = &t->taken->resources[i];

		free(r->objects);
		free(r->opaque);
		r->objects = NULL;
		r->opaque = NULL;
		r->n = 0;
	}
	unmark_done(&t->marks);
	t->git = NULL;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;

	return dir && strncmp(path, dir, n) == 0 && path[n] == '/';
}

static bool is_seen(struct taking *t, size_t resource, const char *path,
		    const struct entry *entry, struct seen *ret)
{
	if (!seen_find(&t->session->memories[resource].seen, path, ret) ||
	    ret->layer_ino == 0 || ret->conflict != 0)
		return false;
	return entry->is_whiteout
		       ? ret->base_ino == 0
		       : ret->layer_ino == entry->ino &&
				 time_is_same(ret->layer_ctime, entry->ctime);
}

/* Of type copied_watch.skip: (a). */
static int skip(void *ctx, size_t resource, const struct tree_visit *visit,
		const struct entry *entry)
{
	struct taking *t = ctx;
	struct seen seen;

	return (entry->is_whiteout || entry->type == ENTRY_LINK ||
		(entry->type == ENTRY_FILE && entry->nlink == 1)) &&
	       !is_below(visit->path, t->taken->resources[resource].opaque) &&
	       is_seen(t, resource, visit->path, entry, &seen);
}

static void note_git(struct taking *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (n < 4 || strncmp(slash - 4, ".git", 4) != 0 ||
	    (n > 4 && slash[-5] != '/'))
		return;
	for (size_t i = 0; i < sizeof(git_work) / sizeof(git_work[0]); i++)
		if (strcmp(slash + 1, git_work[i].name) == 0)
			t->git = git_work[i].what;
}

/* Whether the box knows a directory below it.  If in doubt it does. */
static bool is_in_base(const struct taking *t, size_t resource,
		       const char *path)
{
	auto_fd int fd = access_open_below(t->session->resources[resource].base,
					   path, strlen(path), O_PATH, NULL);

	return fd != -ENOENT && fd != -ENOTDIR;
}

static int set_marks(int fd, struct hb_error *err)
{
	int r = sys_set_xattr(fd, OVERLAY_TAKEN, "y", 1);

	if (r >= 0)
		r = sys_set_xattr(fd, OVERLAY_OPAQUE, "y", 1);
	return r < 0 ? hb_fail(err, r, "cannot mark a directory") : 0;
}

static int remove_mark(int fd, const char *name, struct hb_error *err)
{
	int r = sys_remove_xattr(fd, name);

	return r < 0 && r != -ENODATA
		       ? hb_fail(err, r, "cannot copy a directory")
		       : 0;
}

/* In the copy deletions are whiteouts, and no directory has these marks. */
static int strip(int copy, const char *name, struct hb_error *err)
{
	auto_fd int fd =
		sys_openat(copy, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	int r = fd < 0 ? hb_fail(err, fd, "cannot copy a directory") : 0;

	if (r >= 0)
		r = remove_mark(fd, OVERLAY_OPAQUE, err);
	return r < 0 ? r : remove_mark(fd, OVERLAY_TAKEN, err);
}

static int keep_opaque(struct taken_resource *r, const char *path,
		       struct hb_error *err)
{
	if (is_below(path, r->opaque))
		return 0;
	free(r->opaque);
	r->opaque = strdup(path);
	return r->opaque ? 0 : hb_fail(err, -ENOMEM, "cannot keep a path");
}

static int take_dir(struct taking *t, size_t resource,
		    const struct tree_visit *visit, const struct entry *entry,
		    int copy, struct taken_object *o, struct hb_error *err)
{
	struct taken_resource *r = &t->taken->resources[resource];
	struct sys_attr a;
	struct seen seen = { 0 };
	bool is_committed =
		is_seen(t, resource, visit->path, entry, &seen) ||
		(seen.layer_ino != 0 && seen.layer_ino == entry->ino);
	/* What hides all of the base is to be copied whole, but once. */
	bool marks = !entry->is_taken &&
		     (entry->is_opaque
			      ? is_committed
			      : !entry->has_origin &&
					!is_in_base(t, resource, visit->path));
	auto_fd int fd = -1;
	int result;

	/* What stands where the store is, in the view, is no change. */
	if (walk_is_store(visit->path, BERTH))
		return 0;
	if (entry->is_opaque && !marks)
		return keep_opaque(r, visit->path, err);
	if (!marks && !entry->is_taken)
		return 0;
	fd = sys_openat(visit->dir, visit->name,
			O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	result = fd < 0 ? hb_fail(err, fd, "cannot open a directory") : 0;
	if (result >= 0 && marks)
		result = set_marks(fd, err);
	if (result >= 0 && sys_attr_at(fd, "", &a) >= 0)
		o->upper_ctime = a.ctime;
	if (result >= 0)
		result = strip(copy, visit->name, err);
	return result < 0 ? result : unmark_add(&t->marks, visit->path, err);
}

/* (b) */
static void write_back(const struct taken_resource *r,
		       const struct tree_visit *visit, struct taken_object *o)
{
	auto_fd int fd = -1;

	o->is_vague = true;
	if (r->is_volatile)
		return;
	fd = sys_openat(visit->dir, visit->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	o->is_vague = fd < 0 || sys_write_back(fd) < 0;
}

/* Of type copied_watch.one. */
static int one(void *ctx, size_t resource, const struct tree_visit *visit,
	       const struct entry *entry, int copy, struct hb_error *err)
{
	struct taking *t = ctx;
	struct taken_resource *r = &t->taken->resources[resource];
	struct taken_object o = {
		.hash = siphash(&t->taken->key, visit->path,
				strlen(visit->path)),
		.upper_ino = entry->ino,
		.upper_ctime = entry->ctime,
		.is_whiteout = entry->is_whiteout,
	};
	struct seen seen;
	int result = 0;

	if (!entry->is_whiteout)
		note_git(t, visit->path);
	o.is_seen = is_seen(t, resource, visit->path, entry, &seen);
	if (entry->type == ENTRY_DIR && !entry->is_whiteout)
		result = take_dir(t, resource, visit, entry, copy, &o, err);
	if (entry->type == ENTRY_FILE && !entry->is_whiteout)
		write_back(r, visit, &o);
	if (result < 0)
		return result;
	if (grow(r->objects, r->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	r->objects[r->n++] = o;
	return 0;
}

/* Of type copied_watch.end. */
static int end(void *ctx, size_t resource, int top, struct hb_error *err)
{
	struct taking *t = ctx;
	int r;

	unmark_sort(&t->marks);
	r = unmark_delete(&t->marks, &t->session->memories[resource].seen,
			  t->session->resources[resource].upper, top, err);
	unmark_done(&t->marks);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct taken_object *x = a, *y = b;

	return x->hash == y->hash ? 0 : x->hash < y->hash ? -1 : 1;
}

/* Of type tree_fn. */
static int note_copy(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	struct taken_object *o = taken_find(ctx, visit->path);

	(void)err;
	if (visit->when == TREE_ENTER && o) {
		o->copy_ino = visit->attr.ino;
		o->copy_ctime = visit->attr.ctime;
	}
	return 0;
}

static int note_copies(struct hb_session *s, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		struct taken_resource *of = &s->taken->resources[i];
		auto_fd int copy = -1;

		if (s->resources[i].is_gone || of->n == 0)
			continue;
		qsort(of->objects, of->n, sizeof(*of->objects), compare);
		copy = layers_open_one(s, s->taken->id, i, err);
		/* A directory that cannot be read is compared by content. */
		r = copy < 0 ? copy
			     : tree_walk(copy, ".", TREE_LENIENT, note_copy, of,
					 err);
	}
	return r;
}

static int prepare(struct hb_session *s, struct hb_error *err)
{
	enum txn_recovered what;
	struct txn *txn;
	size_t n = 0;
	int r;

	r = session_settle_journal(s, false, &what, err);
	if (r >= 0)
		r = session_count_layers(s, &n, err);
	if (r < 0)
		return r;
	if (n > 0) {
		hb_fix(err, "holdback stop @%s", s->record.name);
		return hb_fail(err, -HB_E_BUSY,
			       "session '%s' is live and has marks, and its "
			       "changes can be taken when its command has "
			       "ended",
			       s->record.name);
	}
	return session_txn(s, &txn, err);
}

static int check_git(const struct taking *t, struct hb_error *err)
{
	if (!t->git)
		return 0;
	hb_fix(err, "try again when it has ended");
	return hb_fail(err, -HB_E_BUSY, "held: %s is under way inside", t->git);
}

static int take(struct taking *t, struct hb_error *err)
{
	const struct copied_watch watch = { begin, skip, one, end, t };
	struct hb_session *s = t->session;
	struct taken *taken = t->taken;
	int r = sys_random(&taken->key, sizeof(taken->key));

	if (r < 0)
		return hb_fail(err, r, "cannot get random bytes");
	for (size_t i = 0; i < s->record.n_resources; i++) {
		struct sys_space space = { 0 };

		taken->resources[i].taken = taken;
		taken->resources[i].is_volatile =
			sys_space(s->resources[i].dir, &space) < 0 ||
			space.is_memory;
	}
	r = session_copy_upper(s, &watch, taken->id, err);
	if (r < 0)
		taken->id[0] = '\0';
	return r < 0 ? r : check_git(t, err);
}

int hb_session_take(struct hb_session *session, struct hb_error *err)
{
	struct taking t = { .session = session };
	int r;

	if (!session->box || session->taken)
		return 0;
	r = prepare(session, err);
	if (r >= 0)
		r = session_lock_family(session, err);
	if (r < 0)
		return r;
	t.taken = calloc(1, sizeof(*t.taken));
	r = t.taken ? take(&t, err)
		    : hb_fail(err, -ENOMEM, "cannot take the changes");
	unmark_done(&t.marks);
	session->taken = t.taken;
	if (r >= 0)
		r = note_copies(session, err);
	session_close_resources(session);
	if (r < 0)
		taken_free(session);
	return r;
}
