/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/take.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/mode.h"
#include "base/time.h"
#include "changes/walk.h"
#include "git/delivery/git_part.h"
#include "session/freeze.h"
#include "session/layers.h"
#include "session/live/taken.h"
#include "session/live/takeover.h"
#include "session/live/unmark.h"
#include "session/marks/copied.h"
#include "session/open.h"
#include "session/session.h"
#include "session/settle.h"
#include "store/berth.h"
#include "store/resource.h"
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
 *     of a directory the files in it have their old times.  Below a directory
 *     that is new at its path nothing was committed.  A renamed directory may
 *     come back, and the base has lost its files meanwhile.
 * (b) A program may write to a file by a mapping without a new change time,
 *     until the page was written back.  So each file is written
 *     back while the box is still.  Where that is impossible the file is
 *     compared by content each time.
 * (c) The marks are the only thing that is ever written to a live upper.
 * (d) A clock has ticks.  The box goes on in a later one than that of the
 *newest change, or the object is compared by content each time.
 */

/* So many milliseconds are enough for a tick of any clock. */
#define TICKS_MAX 20

struct taking {
	struct hb_session *session;
	struct taken *taken;
	struct unmark marks; /* of the resource at hand */
	bool stays_still;    /* also after the copy */
};

/* Of type copied_watch.begin. */
static void begin(void *ctx)
{
	struct taking *t = ctx;

	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++) {
		struct taken_resource *r = &t->taken->resources[i];

		free(r->objects);
		free(r->fresh);
		free(r->whole);
		r->objects = NULL;
		r->fresh = r->whole = NULL;
		r->newest = (struct timespec){ 0 };
		r->n = 0;
		t->taken->git[i] = NULL;
	}
	unmark_done(&t->marks);
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;

	return dir && strncmp(path, dir, n) == 0 && path[n] == '/';
}

static bool is_seen(struct taking *t, size_t resource, const char *path,
		    const struct entry *entry, struct seen *ret)
{
	if (is_below(path, t->taken->resources[resource].fresh) ||
	    !seen_find(&t->session->memories[resource].seen, path, ret) ||
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
	       !is_below(visit->path, t->taken->resources[resource].whole) &&
	       is_seen(t, resource, visit->path, entry, &seen);
}

/* A directory that is closed to its owner is opened for a moment. */
static int set_marks(int fd, const struct entry *entry, const char *path,
		     struct hb_error *err)
{
	const uint64_t place = entry_place(path);
	int r = sys_set_xattr(fd, OVERLAY_TAKEN, &place, sizeof(place)), given;

	if (r == -EACCES && sys_chmod_fd(fd, entry->mode | USER_ALL) >= 0) {
		r = sys_set_xattr(fd, OVERLAY_TAKEN, &place, sizeof(place));
		if (r >= 0)
			r = sys_set_xattr(fd, OVERLAY_OPAQUE, "y", 1);
		given = sys_chmod_fd(fd, entry->mode);
		r = r < 0 ? r : given;
	} else if (r >= 0)
		r = sys_set_xattr(fd, OVERLAY_OPAQUE, "y", 1);
	return r < 0 ? hb_fail_at(err, r, path, "cannot mark a directory") : 0;
}

/* The topmost of them counts. */
static int keep_above(char **kept, const char *path, struct hb_error *err)
{
	if (is_below(path, *kept))
		return 0;
	free(*kept);
	*kept = strdup(path);
	return *kept ? 0 : hb_fail(err, -ENOMEM, "cannot keep a path");
}

static bool is_same_dir(struct taking *t, size_t resource, const char *path,
			const struct entry *entry)
{
	return !is_below(path, t->taken->resources[resource].fresh) &&
	       takeover_is_same(&t->session->memories[resource].seen, path,
				entry);
}

/* The work directory is as old as the box. */
static bool is_of_box(const struct resource *resource, struct timespec born)
{
	struct sys_attr a;

	return born.tv_sec != 0 &&
	       sys_attr_at(resource->dir, "work", &a) >= 0 &&
	       a.btime.tv_sec != 0 && time_is_before(a.btime, born);
}

/*
 * Whether the base had no directory there when the box began, or when the box
 * made its own.  So the kernel does not know the base's.
 */
static bool is_unknown(const struct resource *resource, const char *path,
		       const struct entry *entry)
{
	auto_fd int fd = -1;
	struct sys_attr a;

	if (is_of_box(resource, entry->btime))
		return true;
	fd = access_open_below(resource->base, path, strlen(path), O_PATH,
			       NULL);
	return fd >= 0 && sys_attr_at(fd, "", &a) >= 0 &&
	       is_of_box(resource, a.btime);
}

static int mark_dir(struct taking *t, const struct tree_visit *visit,
		    const struct entry *entry, int copy, struct taken_object *o,
		    struct hb_error *err)
{
	auto_fd int fd = -1;
	struct sys_attr a;
	int r = 0;

	if (entry->taken != entry_place(visit->path)) {
		fd = sys_openat(visit->dir, visit->name,
				O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		r = fd < 0 ? hb_fail(err, fd, "cannot open a directory")
			   : set_marks(fd, entry, visit->path, err);
		if (r >= 0 && sys_attr_at(fd, "", &a) >= 0)
			o->upper_ctime = a.ctime;
	}
	/* In the copy deletions are whiteouts, and no directory has marks. */
	if (r >= 0)
		r = unmark_strip(copy, visit->name, true, err);
	return r < 0 ? r : unmark_add(&t->marks, visit->path, err);
}

/*
 * A directory is new at its path, or lies in the place of one of the base, or
 * is one with that.  The first kind gets marks, and the base is merged with it.
 */
static int take_dir(struct taking *t, size_t resource,
		    const struct tree_visit *visit, const struct entry *entry,
		    int copy, struct taken_object *o, struct hb_error *err)
{
	const struct resource *of = &t->session->resources[resource];
	struct taken_resource *r = &t->taken->resources[resource];
	bool is_same = is_same_dir(t, resource, visit->path, entry);
	bool hides, has_base;
	int result = 0;

	/* What stands where the store is, in the view, is no change. */
	if (walk_is_store(visit->path, BERTH) ||
	    (entry->has_origin && !entry->is_opaque))
		return 0;
	has_base = unmark_has_base(of, visit->path);
	if (!entry->is_opaque && has_base &&
	    !is_unknown(of, visit->path, entry))
		return 0;
	hides = entry->is_opaque && has_base &&
		entry->taken != entry_place(visit->path) &&
		!(is_same &&
		  takeover_can(of, &t->session->memories[resource].seen,
			       visit->path, entry));
	/* The files committed at this path were in another directory. */
	if (!is_same)
		result = keep_above(&r->fresh, visit->path, err);
	if (result < 0 || !hides)
		return result < 0 ? result
				  : mark_dir(t, visit, entry, copy, o, err);
	/* What is left out here would be deleted. */
	result = keep_above(&r->whole, visit->path, err);
	return result < 0 || entry->taken == 0
		       ? result
		       : unmark_strip(copy, visit->name, false, err);
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

	if (!entry->is_whiteout && !t->taken->git[resource])
		t->taken->git[resource] = git_under_way(
			git_root(t->session->resources[resource].is_git),
			visit->path);
	o.is_seen = is_seen(t, resource, visit->path, entry, &seen);
	o.is_fresh = is_below(visit->path, r->fresh);
	if (entry->type == ENTRY_DIR && !entry->is_whiteout)
		result = take_dir(t, resource, visit, entry, copy, &o, err);
	if (entry->type == ENTRY_FILE && !entry->is_whiteout)
		write_back(r, visit, &o);
	if (result < 0)
		return result;
	if (grow(r->objects, r->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	r->objects[r->n++] = o;
	if (time_is_before(r->newest, o.upper_ctime))
		r->newest = o.upper_ctime;
	return 0;
}

/* Of the file system, in which a file of now has this time. */
static int clock_of(const struct resource *resource, struct timespec *ret,
		    struct hb_error *err)
{
	auto_fd int marker = sys_unnamed_file(resource->dir);

	return marker < 0 ? hb_fail(err, marker, "cannot tell the time")
			  : resource_clock(marker, ret, err);
}

/* Some file systems count in seconds. */
static bool is_past(struct timespec t, struct timespec now)
{
	return time_is_before(t, now) &&
	       (t.tv_nsec != 0 || t.tv_sec + 1 < now.tv_sec);
}

/* (d) */
static int pass_tick(const struct resource *resource, struct taken_resource *r,
		     struct hb_error *err)
{
	struct timespec now = { 0 };
	int result = 0;

	for (int i = 0; result >= 0 && i < TICKS_MAX; i++) {
		result = clock_of(resource, &now, err);
		if (result < 0 || is_past(r->newest, now))
			return result;
		sys_pause(1);
	}
	for (size_t i = 0; i < r->n; i++)
		if (!is_past(r->objects[i].upper_ctime, now))
			r->objects[i].is_vague = true;
	return result;
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
	return r < 0 ? r
		     : pass_tick(&t->session->resources[resource],
				 &t->taken->resources[resource], err);
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

/* `known`: where the owner knows of it, and leaves the resource out. */
static int check_git(const struct taken *taken, const char *const *known,
		     struct hb_error *err)
{
	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++) {
		if (!taken->git[i] || (known && known[i]))
			continue;
		hb_fix(err, "try again when it has ended");
		return hb_fail(err, -HB_E_BUSY, "held: %s inside",
			       taken->git[i]);
	}
	return 0;
}

static int take(struct taking *t, struct hb_error *err)
{
	const struct copied_watch watch = { .begin = begin,
					    .skip = skip,
					    .one = one,
					    .end = end,
					    .stays_still = t->stays_still,
					    .leaves_state = true,
					    .ctx = t };
	struct hb_session *s = t->session;
	struct taken *taken = t->taken;
	int r = sys_random(&taken->key, sizeof(taken->key));

	if (r < 0)
		return hb_fail(err, r, "cannot get random bytes");
	r = unmark_begin(s, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->record.n_resources; i++) {
		struct sys_space space = { 0 };

		taken->resources[i].taken = taken;
		taken->resources[i].is_volatile =
			sys_space(s->resources[i].dir, &space) < 0 ||
			space.is_memory;
	}
	r = session_copy_upper(s, COPIED_BY_OWNER, &watch, taken->id, err);
	if (r < 0)
		taken->id[0] = '\0';
	taken->is_frozen = r >= 0 && t->stays_still;
	return r;
}

static int take_once(struct hb_session *session, bool stays_still,
		     struct hb_error *err)
{
	struct taking t = { .session = session, .stays_still = stays_still };
	int r;

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

/* As take_once(), and the copy goes if git is at work in it. */
static int take_quiet(struct hb_session *session, bool stays_still,
		      const char *const *known, struct hb_error *err)
{
	int r = take_once(session, stays_still, err);

	if (r >= 0)
		r = check_git(session->taken, known, err);
	if (r < 0)
		taken_free(session);
	return r;
}

int hb_session_take(struct hb_session *session, struct hb_error *err)
{
	if (!session->box || session->taken)
		return 0;
	return take_quiet(session, false, NULL, err);
}

int hb_session_take_part(struct hb_session *session, struct hb_error *err)
{
	int r;

	if (!session->box || session->taken)
		return 0;
	r = take_once(session, false, err);
	if (r >= 0)
		session->taken->is_part = true;
	return r;
}

const char *hb_session_git_work(const struct hb_session *session,
				size_t resource)
{
	return session->taken ? session->taken->git[resource] : NULL;
}

int taken_again(struct hb_session *session, bool stays_still,
		struct hb_error *err)
{
	const char *known[RECORD_RESOURCES_MAX] = { NULL };
	bool is_part = session->taken && session->taken->is_part;
	int r;

	if (is_part)
		memcpy(known, session->taken->git, sizeof(known));
	session_close_resources(session);
	taken_free(session);
	session_unlock_family(session);
	r = take_quiet(session, stays_still, known, err);
	if (r >= 0)
		session->taken->is_part = is_part;
	return r;
}
