/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/walk.h"
#include "strategy/baseline.h"
#include "strategy/copy.h"
#include "strategy/copy_place.h"
#include "strategy/links.h"
#include "strategy/strategy.h"
#include "strategy/trail.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/names.h"
#include "tree/standin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Making the copy be what base and layers are together.
 *
 * One walk over the view, with the copy and the baseline beside it.  An object
 * of the copy stays if the baseline knows it, and is made again if it does not.
 * The baseline knows inode, ctime and size of the copy, and inode and ctime of
 * its source.  So the result is the same after any change of base, layers or
 * copy, and after any interruption of an earlier attempt.
 *
 *	(a) Nothing is written to the base or a layer; of the base nothing is
 *	    opened that we may not read as it is.
 *	(b) Base and copy never share an inode: a write inside would reach the
 *	    base.  Several names of one file in one of them are several names of
 *	    one file in the copy, if they are copied together.
 *	(c) The baseline is replaced last, so it never speaks of what is not
 *	    there yet.
 *	(d) What cannot be copied (mounts, devices, what we may not read) is an
 *	    empty thing in the copy and told to `held`.
 */

#define ATTEMPTS 3

/* The names of a directory of the copy that the baseline does not know. */
struct listing {
	size_t depth; /* of the trail */
	struct names names;
	char next[NAME_MAX + 1];
	bool has_next;
};

struct refresh {
	const struct strategy_call *call;
	struct baseline_reader old;
	struct baseline_writer new;
	struct trail trail;
	struct names_pool pool;
	struct listing *listings;
	size_t n_listings;
	struct links links;
	size_t n_held;
	bool has_changes, has_shared;
};

/* One object of the view. */
struct wanted {
	const struct sighting *s;
	struct entry entry;
	int dir;
	uint32_t depth;
	bool is_layer;
	const struct baseline_record *known; /* NULL: of this name nothing */
};

static int next_listed(struct listing *l, struct hb_error *err)
{
	const char *name;
	int r;

	r = names_next(&l->names, &name, err);
	l->has_next = r > 0;
	if (r > 0)
		(void)snprintf(l->next, sizeof(l->next), "%s", name);
	return r;
}

/* What lies in the last directory is looked through on the way. */
static int list(struct refresh *f, struct hb_error *err)
{
	struct listing *l;
	int r;

	if (grow(f->listings, f->n_listings) < 0)
		return hb_fail(err, -ENOMEM, "cannot look at the copy");
	l = &f->listings[f->n_listings];
	*l = (struct listing){ .depth = f->trail.n };
	r = names_read(&f->pool, &trail_last(&f->trail)->fd, 1, &l->names, err);
	if (r < 0)
		return r;
	f->n_listings++;
	r = next_listed(l, err);
	return r < 0 ? r : 0;
}

/* Removes what the last directory has before `name`; NULL: all the rest. */
static int prune(struct refresh *f, const char *name, struct hb_error *err)
{
	struct listing *l;
	int r = 0;

	if (f->n_listings == 0)
		return 0;
	l = &f->listings[f->n_listings - 1];
	if (l->depth != f->trail.n)
		return 0;
	while (r >= 0 && l->has_next) {
		int order = name ? strcmp(l->next, name) : -1;

		if (order > 0)
			break;
		if (order < 0) {
			f->has_changes = true;
			r = place_clear(&f->trail, l->next, err);
		}
		if (r >= 0)
			r = next_listed(l, err);
		if (order == 0)
			break;
	}
	return r < 0 ? r : 0;
}

static int leave(void *ctx, struct trail_dir *dir, struct hb_error *err)
{
	struct refresh *f = ctx;
	struct sys_attr a;
	int r;

	r = prune(f, NULL, err);
	if (r < 0)
		return r;
	if (f->n_listings > 0 &&
	    f->listings[f->n_listings - 1].depth == f->trail.n)
		names_done(&f->listings[--f->n_listings].names);
	r = trail_restore(dir, err);
	if (r <= 0 || f->trail.n == 1)
		return r < 0 ? r : 0;
	r = sys_attr_at(dir->fd, "", &a);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the copy");
	f->has_changes = true;
	return baseline_amend(&f->new, dir->record, a.ctime, err);
}

/* The record, which comes before where we are, is in the view no more. */
static int drop_next(struct refresh *f, struct hb_error *err)
{
	const struct baseline_record gone = f->old.next;
	const char *path = buf_str(&f->old.path);
	size_t len = f->old.path.len - strlen(gone.name);
	int r;

	if (len > 0)
		len--;
	r = trail_leave_to(&f->trail, path, len, err);
	if (r >= 0 && f->trail.path.len == len) {
		f->has_changes = true;
		r = place_clear(&f->trail, gone.name, err);
	}
	if (r >= 0)
		r = baseline_next(&f->old, err);
	return r < 0 ? r : baseline_skip(&f->old, gone.depth, err);
}

static bool is_known(const struct refresh *f, const struct wanted *w,
		     const struct entry *now)
{
	const struct baseline_record *k = w->known;

	if (!k || !f->old.is_trusted || k->type != w->entry.type ||
	    now->type != k->type || (k->flags & BASELINE_HELD) ||
	    k->ino != now->ino || !place_is_time(k->ctime, now->ctime) ||
	    k->from_ino != w->entry.ino)
		return false;
	if (k->type != ENTRY_DIR && k->size != now->size)
		return false;
	return place_is_time(k->from_ctime, k->flags & BASELINE_LINKED
						    ? w->entry.mtime
						    : w->entry.ctime);
}

static struct carry carry_of(const struct wanted *w)
{
	return (struct carry){
		.from = w->dir,
		.name = w->s->name,
		.entry = &w->entry,
		.flags = CARRY_OWN |
			 (w->is_layer ? CARRY_FROM_LAYER : CARRY_FROM_OTHERS),
		.mode = w->entry.mode,
		.uid = w->entry.uid,
		.gid = w->entry.gid,
	};
}

/* Whether what stands for it is there, as it was made. */
static bool is_held(const struct wanted *w, const struct entry *now)
{
	const struct baseline_record *k = w->known;

	if (!k || !(k->flags & BASELINE_HELD) || now->type != k->type ||
	    now->ino != k->ino)
		return false;
	return now->type == ENTRY_DIR ||
	       (now->size == 0 && now->mode == 0 &&
		place_is_time(now->mtime, k->from_ctime));
}

/* Shown as it is by the box, on top of something empty. */
static int hold(struct refresh *f, const struct wanted *w,
		const struct entry *now, struct hb_error *err)
{
	enum entry_type type =
		w->entry.type == ENTRY_DIR ? ENTRY_DIR : ENTRY_FILE;
	int dir = trail_last(&f->trail)->fd;
	struct baseline_record record;
	struct entry made = *now;
	uint64_t offset;
	int r = 0;

	if (++f->n_held > COPY_HELD_MAX) {
		hb_fix(err, "hold a directory back that has fewer of them");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "more than %d mounts, devices and things that "
			       "may not be read",
			       COPY_HELD_MAX);
	}
	if (!is_held(w, now) || now->type != type) {
		f->has_changes = true;
		r = place_clear(&f->trail, w->s->name, err);
		if (r < 0)
			return r;
		r = type == ENTRY_DIR ? sys_mkdirat(dir, w->s->name, 0700)
				      : sys_make_file_at(dir, w->s->name, 0);
		if (r < 0)
			return hb_fail(err, r,
				       "cannot make a place to show "
				       "something at");
		r = entry_read_base(dir, w->s->name, &made, err);
	}
	if (r < 0)
		return r;
	place_fill(&record, w->depth, w->s->name, &made);
	record.flags = BASELINE_HELD;
	record.from_ctime = made.mtime;
	r = baseline_add(&f->new, &record, &offset, err);
	if (r >= 0 && f->call->held)
		r = f->call->held(f->call->ctx, w->s->path, err);
	return r < 0 ? r : WALK_SKIP;
}

/* Whether it is the very state that was to be copied. */
static bool is_still(const struct wanted *w)
{
	struct entry now;

	return entry_read_base(w->dir, w->s->name, &now, NULL) >= 0 &&
	       now.type == w->entry.type && now.ino == w->entry.ino &&
	       place_is_time(now.ctime, w->entry.ctime);
}

static int copy_first(struct refresh *f, const struct wanted *w, size_t from,
		      bool is_shared, struct hb_error *err)
{
	int dir = trail_last(&f->trail)->fd;
	struct carry carry = carry_of(w);
	int r;

	r = carry_copy(&carry, dir, w->s->name, err);
	if (r >= 0 && is_shared)
		(void)links_keep(&f->links, from, w->entry.ino, dir,
				 w->s->name);
	return r;
}

static int copy_file(struct refresh *f, struct wanted *w,
		     const struct entry *now, struct hb_error *err)
{
	int dir = trail_last(&f->trail)->fd;
	size_t from = w->is_layer ? w->s->layer + 1 : 0;
	bool is_shared = w->entry.nlink > 1;
	struct hb_error why = { 0 };
	struct baseline_record record;
	struct entry made;
	uint64_t offset;
	int r;

	f->has_changes = true;
	r = now->type == ENTRY_NONE ? trail_touch(&f->trail, err)
				    : place_clear(&f->trail, w->s->name, err);
	if (r < 0)
		return r;
	if (is_shared &&
	    links_reuse(&f->links, from, w->entry.ino, dir, w->s->name) >= 0)
		r = 0;
	else
		r = copy_first(f, w, from, is_shared, &why);
	if (r < 0 && !w->is_layer && !is_still(w)) {
		hb_fix(err, "try again when no program writes there");
		return hb_fail(err, -HB_E_BUSY,
			       "a file changes while it is "
			       "copied");
	}
	if (!w->is_layer && (r == -EACCES || r == -EXDEV || r == -EPERM))
		return hold(f, w, &(struct entry){ 0 }, err);
	if (r < 0)
		return hb_pass(err, &why, r);
	r = entry_read_base(dir, w->s->name, &made, err);
	if (r < 0)
		return r;
	place_fill(&record, w->depth, w->s->name, &made);
	if (is_shared) {
		record.flags = BASELINE_SHARED;
		f->has_shared = true;
	}
	if (w->is_layer || is_still(w)) {
		record.from_ino = w->entry.ino;
		record.from_ctime = w->entry.ctime;
	}
	return baseline_add(&f->new, &record, &offset, err);
}

/*
 * A stand-in for a file of the base goes on as such, wherever a command has put
 * it.  If it was written to, it has that content.
 */
static int hold_again(struct refresh *f, const struct wanted *w,
		      const struct entry *now, struct hb_error *err)
{
	const struct timespec never = { .tv_nsec = 1 };
	int dir = trail_last(&f->trail)->fd;
	struct carry carry = carry_of(w);
	struct baseline_record record;
	struct entry made = *now;
	struct standin in;
	uint64_t offset;
	int r;

	if (w->known && (w->known->flags & BASELINE_HELD) &&
	    f->old.is_trusted && now->type == ENTRY_FILE &&
	    now->ino == w->known->ino)
		return baseline_add(&f->new, w->known, &offset, err);
	f->has_changes = true;
	r = standin_read(w->dir, w->s->name, &w->entry, &in);
	if (r < 0)
		return hb_fail(err, r, "cannot read a mark");
	r = place_clear(&f->trail, w->s->name, err);
	if (r >= 0 && in.is_touched)
		r = carry_copy(&carry, dir, w->s->name, err);
	else if (r >= 0 && (r = sys_make_file_at(dir, w->s->name, 0)) < 0)
		r = hb_fail(err, r, "cannot make a file");
	if (r >= 0)
		r = entry_read_base(dir, w->s->name, &made, err);
	if (r < 0)
		return r;
	place_fill(&record, w->depth, w->s->name, &made);
	record.flags = BASELINE_HELD;
	record.from_ctime = in.is_touched ? never : made.mtime;
	return baseline_add(&f->new, &record, &offset, err);
}

static int enter(struct refresh *f, const struct wanted *w,
		 const struct entry *now, const struct baseline_record *record,
		 struct hb_error *err)
{
	uint64_t offset;
	int r;

	r = baseline_add(&f->new, record, &offset, err);
	if (r >= 0)
		r = trail_enter(&f->trail, w->s->name, now, err);
	if (r < 0)
		return r;
	trail_last(&f->trail)->record = offset;
	return 0;
}

static int make_dir(struct refresh *f, const struct wanted *w,
		    const struct entry *now, struct hb_error *err)
{
	int dir = trail_last(&f->trail)->fd;
	struct carry carry = carry_of(w);
	struct baseline_record record;
	struct trail_dir *entered;
	auto_fd int fd = -1;
	struct entry made;
	int r;

	f->has_changes = true;
	carry.mode |= 0700;
	if (now->type == ENTRY_DIR) {
		fd = sys_openat(dir, w->s->name, O_PATH | O_NOFOLLOW, 0);
		r = fd < 0 ? fd : sys_chmod_fd(fd, now->mode | 0700);
		if (r < 0)
			return hb_fail(err, r,
				       "cannot open a directory of "
				       "the copy");
		r = carry_attributes(&carry, fd, err);
	} else {
		r = now->type == ENTRY_NONE
			    ? trail_touch(&f->trail, err)
			    : place_clear(&f->trail, w->s->name, err);
		if (r >= 0)
			r = carry_copy(&carry, dir, w->s->name, err);
	}
	if (r >= 0)
		r = entry_read_base(dir, w->s->name, &made, err);
	if (r < 0)
		return r;
	place_fill(&record, w->depth, w->s->name, &made);
	record.from_ino = w->entry.ino;
	record.from_ctime = w->entry.ctime;
	if (w->is_layer && w->entry.is_stand_in)
		record.flags = BASELINE_HELD;
	r = enter(f, w, &made, &record, err);
	if (r < 0)
		return r;
	entered = trail_last(&f->trail);
	entered->mode = w->entry.mode;
	entered->mtime = w->entry.mtime;
	entered->is_touched = true;
	return now->type == ENTRY_DIR ? list(f, err) : 0;
}

/* The store is no part of the view: its place is there, and empty. */
static bool is_avoided(const struct refresh *f, const struct wanted *w)
{
	return !w->is_layer && w->entry.type == ENTRY_DIR &&
	       w->entry.ino == f->call->avoid_ino &&
	       w->entry.dev == f->call->avoid_dev;
}

static int put(struct refresh *f, struct wanted *w, struct hb_error *err)
{
	struct entry now;
	int r;

	r = entry_read_base(trail_last(&f->trail)->fd, w->s->name, &now, err);
	if (r < 0)
		return r;
	if (!w->is_layer && (w->entry.type == ENTRY_DEVICE ||
			     (w->entry.type == ENTRY_DIR && w->s->doubt)))
		return hold(f, w, &now, err);
	if (is_avoided(f, w)) {
		r = make_dir(f, w, &now, err);
		return r < 0 ? r : WALK_SKIP;
	}
	if (w->is_layer && w->entry.is_stand_in && w->entry.type == ENTRY_FILE)
		return hold_again(f, w, &now, err);
	if (is_known(f, w, &now)) {
		uint64_t offset;

		if (w->entry.type == ENTRY_DIR)
			return enter(f, w, &now, w->known, err);
		return baseline_add(&f->new, w->known, &offset, err);
	}
	if (w->entry.type == ENTRY_DIR)
		return make_dir(f, w, &now, err);
	return copy_file(f, w, &now, err);
}

static int sight(void *ctx, struct sighting *s, struct hb_error *err)
{
	struct refresh *f = ctx;
	struct baseline_record known;
	struct wanted w = {
		.s = s,
		.entry = s->new,
		.dir = s->layer_dir,
		.depth = place_depth(s->path),
		.is_layer = s->has_layer,
	};
	int r = 0;

	if (!s->has_layer && !s->in_hidden && !s->in_gone) {
		w.entry = s->old;
		w.dir = s->base_dir;
	}
	if (w.entry.type == ENTRY_NONE)
		return WALK_SKIP;
	while (r >= 0 && place_is_before(&f->old, w.depth, s->name))
		r = drop_next(f, err);
	if (r >= 0)
		r = trail_leave_to(&f->trail, s->path,
				   place_parent(s->path, s->name), err);
	if (r >= 0)
		r = prune(f, s->name, err);
	if (r >= 0)
		r = place_take_record(&f->old, w.depth, s->name, &known, err);
	if (r < 0)
		return r;
	if (r > 0)
		w.known = &known;
	r = put(f, &w, err);
	if (r >= 0 && (r == WALK_SKIP || w.entry.type != ENTRY_DIR)) {
		int skipped = baseline_skip(&f->old, w.depth, err);

		return skipped < 0 ? skipped : r;
	}
	return r;
}

static int walk(struct refresh *f, int copy, struct hb_error *err)
{
	const struct strategy_call *call = f->call;
	const struct resource *p = call->resource;
	const struct walk_request request = {
		.base = p->base,
		.layers = p->layers,
		.n_layers = p->n_layers,
		.spill_dir = p->dir,
		.store_name = p->store_name,
		.is_whole = true,
		.sight = sight,
		.ctx = f,
		.listener = call->listener,
	};
	struct entry top = { 0 };
	int r;

	r = place_carry_top(p->layers[0], copy, false, err);
	if (r >= 0)
		r = trail_begin(&f->trail, copy, leave, f, err);
	if (r >= 0)
		r = entry_read_fd(p->layers[0], true, &top, err);
	if (r >= 0)
		r = list(f, err);
	if (r >= 0) {
		/* The top of the view has the attributes of the upper's. */
		struct trail_dir *dir = trail_last(&f->trail);

		dir->is_touched = dir->mode != top.mode ||
				  !place_is_time(dir->mtime, top.mtime);
		dir->mode = top.mode;
		dir->mtime = top.mtime;
		r = walk_run(&request, err);
	}
	while (r >= 0 && f->old.has_next)
		r = drop_next(f, err);
	r = trail_end(&f->trail, r, err);
	while (f->n_listings > 0)
		names_done(&f->listings[--f->n_listings].names);
	return r;
}

/* The other names of a file changed its ctime after its record was written. */
static int fix_shared(struct refresh *f, int copy, struct hb_error *err)
{
	struct baseline_reader b;
	int r;

	r = baseline_reread(&f->new, &b, err);
	if (r < 0)
		return r;
	while (r >= 0 && b.has_next) {
		size_t len = b.path.len - strlen(b.next.name);
		struct sys_attr a;

		if (b.next.flags & BASELINE_SHARED) {
			auto_fd int dir = access_open_below(
				copy, buf_str(&b.path), len > 0 ? len - 1 : 0,
				O_PATH, NULL);

			/* What we may not see is copied again next time. */
			if (dir >= 0 &&
			    sys_attr_at(dir, b.next.name, &a) >= 0 &&
			    a.ino == b.next.ino)
				r = baseline_amend(&f->new, b.offset, a.ctime,
						   err);
		}
		if (r >= 0)
			r = baseline_next(&b, err);
	}
	baseline_close(&b);
	return r;
}

static int attempt(struct refresh *f, int copy, struct hb_error *err)
{
	const struct strategy_call *call = f->call;
	const struct resource *p = call->resource;
	struct hb_error why = { 0 };
	bool is_new;
	int r;

	r = baseline_open(p->dir, call->boot, &f->old, &why);
	/* Without one everything is copied again. */
	is_new = r < 0 || !f->old.is_trusted;
	if (r < 0 && r != -ENOENT && r != -HB_E_CORRUPT)
		return hb_pass(err, &why, r);
	r = baseline_begin(p->dir, &f->new, err);
	if (r >= 0)
		r = walk(f, copy, err);
	links_end(&f->links);
	if (r >= 0 && f->has_shared)
		r = fix_shared(f, copy, err);
	if (r >= 0 && (f->has_changes || is_new))
		r = baseline_publish(&f->new, call->boot, err);
	baseline_drop(&f->new);
	baseline_close(&f->old);
	return r < 0 ? r : f->has_changes || is_new;
}

int copy_before_box(const struct strategy_call *call, struct hb_error *err)
{
	struct hb_error why = { 0 };
	auto_fd int copy = -1;
	int r = 0;

	r = sys_mkdirat(call->resource->dir, COPY_DIR, 0700);
	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot make a copy");
	copy = place_open_copy(call->resource->dir, err);
	if (copy < 0)
		return copy;
	for (int i = 0; i < ATTEMPTS; i++) {
		struct refresh f = { .call = call, .old.fd = -1, .new.fd = -1 };

		why = (struct hb_error){ 0 };
		links_begin(&f.links, call->resource->dir);
		names_pool_init(&f.pool, call->resource->dir);
		r = attempt(&f, copy, &why);
		names_pool_done(&f.pool);
		free(f.listings);
		/* Another program writes there: as it is a moment later. */
		if (r != -HB_E_BUSY)
			break;
	}
	if (r >= 0)
		return r;
	if (err)
		*err = why;
	return hb_fail(err, r, "cannot copy");
}
