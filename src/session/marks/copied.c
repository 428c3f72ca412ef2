/* SPDX-License-Identifier: Apache-2.0 */
#include "session/marks/copied.h"

#include "agent/carried.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/mode.h"
#include "session/freeze.h"
#include "session/layers.h"
#include "session/live/stripped.h"
#include "session/open.h"
#include "session/publish/carry_note.h"
#include "session/publish/carry_place.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "session/state.h"
#include "session/strategy/shown.h"
#include "store/family.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/linked.h"
#include "tree/tree.h"
#include "txn/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * Copying a live upper, each before the next:
 *
 *	directories	of the layer, empty; no record names it
 *	frozen		the copies; a look whether anything ran meanwhile
 *	thawed		sync
 *	record		names it
 *
 * The family's lock is held from first to last.  So a layer without a name is
 * removed by no other process, and by the next collection after a crash.
 */

/* So often a copy is made before it is given up. */
#define COPY_TRIES 3

/* Names of files with several, next to the copies until they are whole. */
#define LINKED_PREFIX 'h'

/*
 * Of each class: so many at a time, so large a copy, and so small a part of the
 * free room.
 */
static const struct {
	size_t marks;
	uint64_t bytes, part;
} limits[COPIED_CLASSES] = {
	[COPIED_BY_OWNER] = { 50, (uint64_t)4 << 30, 2 },
	[COPIED_BY_TURN] = { 20, (uint64_t)1 << 30, 40 },
};

struct copying {
	int top; /* of the copy */
	struct linked linked;
	struct buf path; /* of `dir`, with a slash behind it */
	int dir;	 /* the last directory of the copy; -1: none */
	uint64_t bytes, most;
	uint64_t least; /* of a file; smaller ones, and others, are left out */
	const struct copied_watch *watch;
	size_t resource;
};

/* The directory that the copy of what is visited lies in. */
static int open_dir(struct copying *c, const struct tree_visit *visit,
		    struct hb_error *err)
{
	size_t len = strlen(visit->path) - strlen(visit->name);
	int r;

	if (c->dir >= 0 && c->path.len == len &&
	    memcmp(buf_str(&c->path), visit->path, len) == 0)
		return 0;
	fd_closep(&c->dir);
	buf_cut(&c->path, 0);
	r = buf_add(&c->path, visit->path, len);
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	c->dir = access_open_below(c->top, visit->path, len > 0 ? len - 1 : 0,
				   O_RDONLY, err);
	return c->dir < 0 ? c->dir : 0;
}

static int fail_large(struct hb_error *err)
{
	hb_fix(err, "do it when its command has ended: then nothing is "
		    "copied");
	return hb_fail(err, -HB_E_STATE,
		       "the pending changes are too large to be copied from a "
		       "live session");
}

/* The directory is whole: it gets its mode and its time. */
static int leave(const struct copying *c, const struct tree_visit *visit,
		 struct hb_error *err)
{
	auto_fd int fd = sys_openat(c->dir, visit->name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	int r = fd;

	/* A directory of which everything was left out is no part either. */
	if (c->least > 0 &&
	    sys_unlinkat(c->dir, visit->name, AT_REMOVEDIR) >= 0)
		return 0;
	if (r >= 0)
		r = sys_set_mtime_at(fd, "", visit->attr.mtime);
	if (r >= 0)
		r = sys_fchmod(fd, visit->attr.mode & 07777);
	return r < 0 ? hb_fail_at(err, r, visit->name, "cannot copy") : 0;
}

static int carry(struct copying *c, const struct tree_visit *visit,
		 const struct entry *entry, struct hb_error *err)
{
	const struct carry carry = { .from = visit->dir,
				     .name = visit->name,
				     .entry = entry,
				     .flags = CARRY_CAPABILITIES |
					      CARRY_FROM_OTHERS,
				     .mode = entry->mode,
				     .uid = entry->uid,
				     .gid = entry->gid };
	auto_fd int fd = -1;
	int r;

	if (entry->type != ENTRY_DIR && entry->nlink > 1)
		return linked_copy(&c->linked, &carry, entry->ino, c->dir,
				   visit->name, err);
	r = carry_copy(&carry, c->dir, visit->name, err);
	if (r < 0 || entry->type != ENTRY_DIR ||
	    (entry->mode & USER_ALL) == USER_ALL)
		return r;
	/* So that it can be filled. */
	fd = sys_openat(c->dir, visit->name, O_PATH | O_NOFOLLOW, 0);
	r = fd < 0 ? fd : sys_chmod_fd(fd, entry->mode | USER_ALL);
	return r < 0 ? hb_fail_at(err, r, visit->name, "cannot copy") : 0;
}

static int whiteout(const struct copying *c, const struct tree_visit *visit,
		    struct hb_error *err)
{
	int r = sys_make_whiteout(c->dir, visit->name);

	return r < 0 ? hb_fail_at(err, r, visit->name, "cannot copy") : 0;
}

/* Of type tree_fn. */
static int copy_one(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	struct copying *c = ctx;
	struct entry entry;
	int r;

	if (!S_ISDIR(visit->attr.mode) && c->least > 0 &&
	    (!S_ISREG(visit->attr.mode) || visit->attr.size < c->least))
		return 0;
	r = open_dir(c, visit, err);
	if (r < 0)
		return r;
	if (visit->when == TREE_LEAVE)
		return leave(c, visit, err);
	r = entry_read_layer(visit->dir, visit->name, &entry, err);
	if (r < 0)
		return r;
	if (c->watch->skip(c->watch->ctx, c->resource, visit, &entry) > 0)
		return 0;
	if (entry.type == ENTRY_FILE && !entry.is_whiteout)
		c->bytes += entry.stored;
	if (c->bytes > c->most)
		return fail_large(err);
	r = entry.is_whiteout ? whiteout(c, visit, err)
			      : carry(c, visit, &entry, err);
	return r < 0 ? r
		     : c->watch->one(c->watch->ctx, c->resource, visit, &entry,
				     c->dir, err);
}

static int copy_resource(const struct resource *resource, int layer, int top,
			 enum copied_class class, uint64_t least,
			 const struct copied_watch *watch, struct hb_error *err)
{
	struct copying c = { .top = top,
			     .linked = { layer, LINKED_PREFIX, false },
			     .path = BUF_INIT(TREE_PATH_MAX),
			     .dir = -1,
			     .most = limits[class].bytes,
			     .least = least,
			     .watch = watch,
			     .resource = resource->number };
	struct sys_space space;
	struct sys_attr attr;
	int r;

	if (sys_space(top, &space) >= 0 &&
	    space.free_bytes / limits[class].part < c.most)
		c.most = space.free_bytes / limits[class].part;
	r = sys_attr_at(resource->upper, "", &attr);
	if (r >= 0)
		r = tree_walk(resource->upper, ".", 0, copy_one, &c, err);
	if (r >= 0)
		r = linked_end(&c.linked, err);
	if (r >= 0)
		r = watch->end(watch->ctx, c.resource, top, err);
	if (r >= 0)
		r = sys_set_mtime_at(top, "", attr.mtime);
	fd_closep(&c.dir);
	buf_done(&c.path);
	return r < 0 ? hb_fail(err, r, "cannot copy the changes of '%s'",
			       resource->record->source)
		     : 0;
}

/*
 * The box has an agent's state in its upper, which the end of the box takes
 * out of there: it is carried, and not pending.  Only files that are too large
 * for that stay, and are a part of the mark.
 */
static bool is_carried(const struct hb_session *s, size_t number)
{
	struct sys_attr attr;

	return carry_is_state(s, number) &&
	       sys_attr_at(s->dir, CARRY_NOTE, &attr) >= 0;
}

static int copy_all(struct hb_session *s, const char *id, const int *tops,
		    enum copied_class class, const struct copied_watch *watch,
		    struct hb_error *err)
{
	auto_fd int layer = layers_open(s, id, err);
	int r = layer;

	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		if (!s->resources[i].is_gone &&
		    !(watch->leaves_state && is_carried(s, i)))
			r = copy_resource(
				&s->resources[i], layer, tops[i], class,
				is_carried(s, i) ? CARRIED_FILE_MAX + 1 : 0,
				watch, err);
	return r < 0 ? r : 0;
}

/* 1: it is what the upper was at one moment; 0: something ran meanwhile. */
static int copy_still(struct hb_session *s, const char *id, const int *tops,
		      enum copied_class class, const struct copied_watch *watch,
		      struct hb_error *err)
{
	int r;

	r = s->box->freeze(s->box, err);
	if (r >= 0)
		r = copy_all(s, id, tops, class, watch, err);
	if (r >= 0)
		r = s->box->check(s->box, err);
	if (r <= 0 || !watch->stays_still)
		s->box->thaw(s->box);
	return r;
}

static void close_all(const struct hb_session *s, int *tops)
{
	for (size_t i = 0; i < s->record.n_resources; i++)
		fd_closep(&tops[i]);
}

static int try_once(struct hb_session *s, enum copied_class class,
		    const struct copied_watch *watch,
		    char ret_id[RECORD_ID_SIZE], struct hb_error *err)
{
	int tops[RECORD_RESOURCES_MAX];
	int r;

	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++)
		tops[i] = -1;
	watch->begin(watch->ctx);
	r = session_make_layer(s, ret_id, tops, err);
	if (r >= 0)
		r = copy_still(s, ret_id, tops, class, watch, err);
	for (size_t i = 0; r > 0 && i < s->record.n_resources; i++) {
		int synced = sys_syncfs(tops[i]);

		if (synced < 0)
			r = hb_fail(err, synced, "cannot sync a layer");
	}
	close_all(s, tops);
	return r;
}

/* Where the changes of a box are not in the upper, or are not all its own. */
static int check_strategies(const struct hb_session *s, struct hb_error *err)
{
	bool is_other = shown_has_trees(&s->record);

	for (size_t i = 0; i < s->record.n_resources; i++)
		is_other = is_other || s->record.resources[i].has_groups;
	if (!is_other)
		return 0;
	hb_fix(err, "holdback stop @%s", s->record.name);
	return hb_fail(err, -HB_E_BUSY,
		       "session '%s' is live, and its changes are in its layer "
		       "only when its command has ended",
		       s->record.name);
}

int session_copy_upper(struct hb_session *s, enum copied_class class,
		       const struct copied_watch *watch,
		       char ret_id[RECORD_ID_SIZE], struct hb_error *err)
{
	struct stripped stripped = { .session = s };
	const struct copied_watch all = stripped_watch(&stripped);
	int r;

	r = session_check_stack(s, err);
	if (r >= 0)
		r = check_strategies(s, err);
	if (r < 0)
		return r;
	for (int i = 0; i < COPY_TRIES; i++) {
		r = try_once(s, class, watch ? watch : &all, ret_id, err);
		if (r != 0)
			break;
		layers_drop(s, ret_id);
	}
	stripped_done(&stripped);
	if (r > 0)
		return 0;
	if (r < 0) {
		layers_drop(s, ret_id);
		return r;
	}
	hb_fix(err, "try again, or holdback stop @%s", s->record.name);
	return hb_fail(err, -HB_E_BUSY,
		       "session '%s' is live, and something ran in it at each "
		       "of %d copies",
		       s->record.name, COPY_TRIES);
}

static size_t count_copies(const struct hb_session *s, uint64_t done)
{
	size_t n = 0;

	for (size_t i = 0; i < s->record.n_layers; i++)
		n += s->record.layers[i].is_copy &&
		     !s->record.layers[i].is_turn &&
		     layer_is_there(&s->record.layers[i], done);
	return n;
}

static int check_count(const struct hb_session *s, uint64_t done,
		       struct hb_error *err)
{
	if (count_copies(s, done) < limits[COPIED_BY_OWNER].marks)
		return 0;
	hb_fix(err, "holdback stop @%s, then commit or roll back",
	       s->record.name);
	return hb_fail(err, -HB_E_STATE,
		       "session '%s' has %zu marks of live states, and no more "
		       "are kept",
		       s->record.name, limits[COPIED_BY_OWNER].marks);
}

/*
 * Also those that a commit has ended: an undo brings back as many as are kept.
 * A copy that was gone back to is a part of the stack.
 */
static bool drop_turns(struct hb_session *s)
{
	bool has_dropped = false;
	size_t n = 0;

	for (size_t i = s->record.n_layers; i > 0; i--) {
		const struct record_layer *layer = &s->record.layers[i - 1];

		if (!layer->is_turn || !layer->is_copy || layer->from != 0 ||
		    ++n <= limits[COPIED_BY_TURN].marks)
			continue;
		record_remove_layer(&s->record, i - 1);
		has_dropped = true;
	}
	return has_dropped;
}

/* With the family's lock. */
static int mark_copy(struct hb_session *s, const char *mark,
		     enum copied_class class, struct hb_error *err)
{
	struct record_layer layer = { .frozen = sys_now().tv_sec,
				      .is_copy = true,
				      .is_turn = class == COPIED_BY_TURN };
	int r;

	(void)snprintf(layer.mark, sizeof(layer.mark), "%s", mark);
	r = session_last_done(s, &layer.after, err);
	if (r >= 0 && class == COPIED_BY_OWNER)
		r = check_count(s, layer.after, err);
	if (r >= 0)
		r = session_copy_upper(s, class, NULL, layer.id, err);
	/* A redo would put layers under it that it was not made over. */
	if (r >= 0 && session_drop_undone(s, layer.after))
		r = history_forget_undone(s->dir, err);
	if (r >= 0)
		r = record_add_layer(&s->record, &layer, err);
	if (r < 0)
		return r;
	r = session_save_durably(s, err);
	if (r < 0)
		record_remove_layer(&s->record, s->record.n_layers - 1);
	return r;
}

int session_copy_mark(struct hb_session *s, const char *mark,
		      enum copied_class class, struct hb_error *err)
{
	struct layers_freed freed = { 0 };
	int r;

	r = session_lock_family(s, err);
	if (r < 0)
		return r;
	r = mark_copy(s, mark, class, err);
	session_unlock_family(s);
	/* The new mark is there: what fails here the next mark does. */
	if (r >= 0 && class == COPIED_BY_TURN && drop_turns(s) &&
	    session_save_durably(s, NULL) >= 0)
		(void)layers_collect(s->store, s->record.family, false, &freed,
				     NULL);
	return r;
}
