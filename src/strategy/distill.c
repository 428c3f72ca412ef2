/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "changes/walk.h"
#include "strategy/baseline.h"
#include "strategy/copy.h"
#include "strategy/copy_place.h"
#include "strategy/held.h"
#include "strategy/strategy.h"
#include "strategy/upper.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/compare.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Finding out what a box did to the copy, and writing it to the upper layer.
 *
 * The copy and the baseline are read side by side, in the same order.
 *
 *	same inode, same ctime		nothing happened
 *	in both, but not the same	its content and attributes go to the
 *					upper; so does what is only in the copy
 *	in the baseline alone		it was removed: a whiteout, if
 *					something lies below
 *
 * The ctime cannot be set from inside.  The maker of the baseline waited until
 * that time was in the past: so an edit that keeps size and mtime is found.
 *
 *	(a) The copy is not changed, but for modes of directories that have to
 *	    be opened to be read.
 *	(b) The new baseline takes the place of the old one last.  Until then
 *	    the next attempt does it all again, and comes to the same result.
 *	    The caller of this syncs the upper.
 *	(c) A deletion is not believed after the machine went down: the copy is
 *	    not synced while a box runs, and an object that never reached the
 *	    disk looks like a removed one.
 *	(e) What stands for a file or directory that may not be read is known
 *	    by its inode: in the layer it says for which (tree/standin.h).
 *	(d) What the agent calls a mark of the overlay is data: it is escaped.
 *	    So is a whiteout device of his making: in the layer, where it would
 *	    delete, it is a socket, which is listed and never committed either.
 */

struct distill {
	const struct strategy_call *call;
	struct baseline_reader old;
	struct baseline_writer new;
	struct upper upper;
	struct held_files held;
	bool has_changes;
};

/* The record, which comes before where we are, is not in the copy any more. */
static int drop_next(struct distill *d, struct hb_error *err)
{
	const struct baseline_record gone = d->old.next;
	const char *path = buf_str(&d->old.path);
	int r = 0;

	d->has_changes = true;
	if (!d->call->has_lost)
		r = upper_remove(&d->upper, path,
				 path + d->old.path.len - strlen(gone.name),
				 err);
	if (r >= 0)
		r = baseline_next(&d->old, err);
	return r < 0 ? r : baseline_skip(&d->old, gone.depth, err);
}

static bool is_same(const struct baseline_record *known,
		    const struct entry *now)
{
	if (known->ino != now->ino || known->type != now->type)
		return false;
	return (known->flags & BASELINE_HELD) ||
	       place_is_time(known->ctime, now->ctime);
}

/*
 * A file with several names has another ctime when one of the others went.  It
 * is what it was if the base still has what it was copied from, and the two are
 * the same.
 */
static int is_same_as_base(struct distill *d, const struct sighting *s,
			   const struct baseline_record *known,
			   struct hb_error *err)
{
	size_t len = place_parent(s->path, s->name);
	const struct side copy = { .dir = s->base_dir,
				   .name = s->name,
				   .entry = &s->old };
	struct xattrs here = { 0 }, there = { 0 };
	struct side base;
	struct entry old;
	auto_fd int dir = -1;
	int r;

	if (!(known->flags & BASELINE_SHARED) || known->ino != s->old.ino ||
	    s->old.type != ENTRY_FILE || known->size != s->old.size)
		return 0;
	dir = access_open_below(d->call->resource->base, s->path, len, O_PATH,
				NULL);
	if (dir < 0 || entry_read_base(dir, s->name, &old, NULL) < 0 ||
	    old.type != ENTRY_FILE || old.ino != known->from_ino ||
	    !place_is_time(old.ctime, known->from_ctime) ||
	    old.mode != s->old.mode || !place_is_time(old.mtime, s->old.mtime))
		return 0;
	base = (struct side){ .dir = dir, .name = s->name, .entry = &old };
	r = side_same_content(&copy, &base, err);
	if (r <= 0)
		return r;
	r = side_xattrs(&copy, &here, err);
	if (r >= 0)
		r = side_xattrs(&base, &there, err);
	if (r < 0)
		return r;
	return memcmp(here.digest, there.digest, sizeof(here.digest)) == 0 &&
	       !here.has_reserved && !there.has_reserved;
}

static int keep(struct distill *d, struct baseline_record *known,
		struct hb_error *err)
{
	uint64_t offset;

	/* What is on disk of it is not certain: copied anew before a box. */
	if (d->call->has_lost)
		known->from_ino = 0;
	return baseline_add(&d->new, known, &offset, err);
}

static int put(struct distill *d, const struct sighting *s, uint32_t depth,
	       const struct baseline_record *known,
	       const struct held_file *held, struct hb_error *err)
{
	bool is_touched = held && (held_find(&d->held, &s->old) != held ||
				   !held_is_untouched(held, &s->old));
	const struct timespec never = { .tv_nsec = 1 };
	const struct upper_source source = {
		.path = s->path,
		.name = s->name,
		.entry = &s->old,
		.dir = s->base_dir,
		.was_there = known && known->type == s->old.type,
		.stands_for = held ? held->real : NULL,
		.is_touched = is_touched,
	};
	struct baseline_record record;
	struct entry made;
	uint64_t offset;
	int r;

	d->has_changes = true;
	place_fill(&record, depth, s->name, &s->old);
	if (s->old.type == ENTRY_DIR) {
		/* Back at its place, it hides nothing of the real one. */
		bool is_home = held && strcmp(held->real, s->path) == 0;

		r = upper_put_dir(
			&d->upper, &source,
			!is_home && (!known || known->type != ENTRY_DIR), err);
		if (held)
			record.flags = BASELINE_HELD;
	} else {
		r = upper_put_file(&d->upper, &source, &made, err);
		if (r >= 0) {
			record.from_ino = made.ino;
			record.from_ctime = made.ctime;
		}
		/* Another name changes the ctime, and goes again. */
		if (r >= 0 && made.nlink > 1) {
			record.flags = BASELINE_LINKED;
			record.from_ctime = made.mtime;
		}
		if (held) {
			record.flags = BASELINE_HELD;
			record.from_ino = 0;
			record.from_ctime = is_touched ? never : held->mtime;
		}
	}
	return r < 0 ? r : baseline_add(&d->new, &record, &offset, err);
}

/* The file of the base that this one stands for, or took the place of. */
static const struct held_file *find_held(const struct distill *d,
					 const struct sighting *s)
{
	const struct held_file *held = held_find(&d->held, &s->old);

	if (held || s->old.type != ENTRY_FILE)
		return held;
	return held_at(&d->held, s->path);
}

static int sight(void *ctx, struct sighting *s, struct hb_error *err)
{
	uint32_t depth = place_depth(s->path);
	struct distill *d = ctx;
	const struct held_file *held;
	struct baseline_record known;
	bool is_known;
	int r = 0;

	while (r >= 0 && place_is_before(&d->old, depth, s->name))
		r = drop_next(d, err);
	if (r < 0)
		return r;
	/* (d) */
	if (s->old.type == ENTRY_DEVICE)
		s->old.type = ENTRY_SOCKET;
	r = place_take_record(&d->old, depth, s->name, &known, err);
	if (r < 0)
		return r;
	is_known = r > 0;
	if (s->old.type != ENTRY_DIR) {
		r = baseline_skip(&d->old, depth, err);
		if (r < 0)
			return r;
	}
	held = find_held(d, s);
	if (held && !(is_known && known.ino == s->old.ino &&
		      (held_is_untouched(held, &s->old) ||
		       place_is_time(known.ctime, s->old.ctime))))
		return put(d, s, depth, is_known ? &known : NULL, held, err);
	if (is_known && is_same(&known, &s->old))
		return keep(d, &known, err);
	r = is_known ? is_same_as_base(d, s, &known, err) : 0;
	if (r < 0)
		return r;
	if (r > 0) {
		d->has_changes = true;
		known.ctime = s->old.ctime;
		return keep(d, &known, err);
	}
	return put(d, s, depth, is_known ? &known : NULL, NULL, err);
}

static int walk(struct distill *d, int copy, struct hb_error *err)
{
	const struct strategy_call *call = d->call;
	const struct resource *p = call->resource;
	const struct walk_request request = {
		.base = copy,
		.spill_dir = p->dir,
		.is_whole = true,
		.is_own_base = true,
		.sight = sight,
		.ctx = d,
		.listener = call->listener,
	};
	int r;

	r = upper_begin(&d->upper, p, copy, err);
	if (r >= 0)
		r = walk_run(&request, err);
	while (r >= 0 && d->old.has_next)
		r = drop_next(d, err);
	return upper_end(&d->upper, r, err);
}

int copy_after_box(const struct strategy_call *call, struct hb_error *err)
{
	struct distill d = { .call = call, .old.fd = -1, .new.fd = -1 };
	auto_fd int copy = -1;
	int r;

	/* copy_cleanup() was here. */
	if (sys_faccessat(call->resource->dir, COPY_DIR, F_OK) == -ENOENT &&
	    !baseline_is_there(call->resource->dir))
		return 0;
	copy = place_open_copy(call->resource->dir, err);
	if (copy < 0)
		return copy;
	r = baseline_open(call->resource->dir, call->boot, &d.old, err);
	if (r < 0)
		return hb_fail(err, r, "cannot tell which files changed");
	r = held_read(call->resource, call->boot, &d.held, err);
	if (r >= 0)
		r = baseline_begin(call->resource->dir, &d.new, err);
	if (r >= 0)
		r = walk(&d, copy, err);
	if (r >= 0 && d.has_changes)
		r = baseline_publish(&d.new, call->boot, err);
	baseline_drop(&d.new);
	baseline_close(&d.old);
	held_done(&d.held);
	return r < 0 ? hb_fail(err, r, "cannot tell which files changed") : 0;
}

/*
 * The baseline goes first: then the rest of a copy is not taken for a copy that
 * a box has cleared.
 */
int copy_cleanup(int dir, struct hb_error *err)
{
	int r = baseline_remove(dir, err);

	return r < 0 ? r : tree_remove(dir, COPY_DIR, err);
}
