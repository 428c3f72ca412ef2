/* SPDX-License-Identifier: Apache-2.0 */
#include "session/remove/empty.h"

#include "base/auto.h"
#include "base/error.h"
#include "session/layers.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "session/state.h"
#include "store/family.h"
#include "store/layout.h"
#include "store/resource.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "sys/file.h"
#include "tree/tree.h"
#include "txn/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Throwing pending changes away where nothing can be written any more.  It
 * needs no journal, no copy for undo, no file or directory that has to be made.
 *
 *	rename	rN/upper -> rN/upper.gone, the first resource first; to go back
 *		to a mark -> rN/upper.to-LAYER, which says what stays
 *	remove	what is in it, and the copy that a box was shown
 *	record	without the layers that go; record_keep_room() has the room
 *	rename	an empty one -> rN/upper, the last resource first
 *
 * (a) The first rename decides.  A session of which upper.gone is there and
 *     upper is not was interrupted here: the process that opens it goes on from
 *     the top.
 * (b) The first resource is the last to be whole again.  So a process that
 *     opens the session sees (a) there as long as one step is missing.
 * (c) The record keeps a layer until nothing above it is shown any more, and
 *     names none that is gone: layers are collected afterwards.
 *
 * tests/txn/no-space.py and crash-empty.py hold these.
 */
#define UPPER	   "upper"
#define UPPER_TMP  "upper.tmp"
#define UPPER_NEW  "upper.new" /* while the upper is being frozen */
#define UPPER_GONE "upper.gone"
#define UPPER_TO   "upper.to-"

static int note_name(void *ctx, const char *name, struct hb_error *err)
{
	struct emptying *e = ctx;
	size_t n = sizeof(UPPER_TO) - 1;

	(void)err;
	if (strcmp(name, UPPER_GONE) == 0)
		(void)snprintf(e->name, sizeof(e->name), UPPER_GONE);
	if (strncmp(name, UPPER_TO, n) == 0 && record_is_id(name + n)) {
		(void)snprintf(e->name, sizeof(e->name), "%s", name);
		(void)snprintf(e->keep, sizeof(e->keep), "%s", name + n);
	}
	return 0;
}

bool session_is_emptying(int dir)
{
	struct emptying e = { 0 };

	return store_each_name(dir, note_name, &e, NULL) >= 0 && e.name[0];
}

static int put_away(struct hb_session *s, size_t number,
		    const struct emptying *e, struct hb_error *err)
{
	auto_fd int dir = session_open_store(s, number, err);
	int r;

	if (dir < 0)
		return dir;
	r = sys_renameat(dir, UPPER, dir, e->name);
	/* In a run that was interrupted before. */
	if (r == -ENOENT && sys_faccessat(dir, e->name, F_OK) >= 0)
		r = 0;
	/* On its way to be a layer: this one was to take its place. */
	if (r == -ENOENT && s->record.is_freezing)
		r = sys_renameat(dir, UPPER_NEW, dir, e->name);
	if (r >= 0)
		r = sys_fsync(dir);
	return r < 0 ? hb_fail(err, r, "cannot put the changes away") : 0;
}

static int remove_entry(void *ctx, const struct tree_visit *visit,
			struct hb_error *err)
{
	int r;

	(void)ctx;
	if (S_ISDIR(visit->attr.mode) && visit->when == TREE_ENTER)
		return 0;
	r = sys_unlinkat(visit->dir, visit->name,
			 S_ISDIR(visit->attr.mode) ? AT_REMOVEDIR : 0);
	return r < 0 ? hb_fail(err, r, "cannot remove the changes") : 0;
}

/* A command's copy as well: what is in it would be carried to the layer. */
static int clear(struct hb_session *s, size_t number, const struct emptying *e,
		 struct hb_error *err)
{
	auto_fd int dir = session_open_store(s, number, err);
	const struct strategy *strategy =
		strategy_of(&s->record.resources[number]);
	int r;

	if (dir < 0)
		return dir;
	r = tree_walk(dir, e->name, TREE_DOOMED, remove_entry, NULL, err);
	if (r >= 0 && strategy)
		r = strategy->cleanup(dir, err);
	return r;
}

static bool has_layer(const struct hb_session *s, const char *id)
{
	for (size_t i = 0; i < s->record.n_layers; i++)
		if (strcmp(s->record.layers[i].id, id) == 0)
			return true;
	return false;
}

/* What was undone went with what is pending: nothing can be redone. */
static int forget_layers(struct hb_session *s, const struct emptying *e,
			 struct hb_error *err)
{
	bool has_changed = s->record.is_freezing;
	uint64_t done = 0;
	int r;

	if (e->keep[0] && !has_layer(s, e->keep))
		return hb_fail(err, -HB_E_CORRUPT,
			       "there is no layer %s to go back to", e->keep);
	r = session_last_done(s, &done, err);
	if (r >= 0)
		r = history_forget_undone(s->dir, err);
	if (r < 0 || s->record.n_layers == 0)
		return r;
	(void)session_drop_undone(s, done);
	for (size_t i = s->record.n_layers; i > 0; i--) {
		struct record_layer *layer = &s->record.layers[i - 1];

		if (strcmp(layer->id, e->keep) == 0) {
			has_changed |= layer->is_copy;
			layer->is_copy = false;
			layer->from = 0;
			break;
		}
		if (!layer_is_there(layer, done))
			continue;
		record_remove_layer(&s->record, i - 1);
		has_changed = true;
	}
	s->record.is_freezing = false;
	return has_changed ? session_save_durably(s, err) : 0;
}

/* What a new upper looks like: what it lies on. */
static int open_likeness(const struct hb_session *s, size_t number, int dir,
			 const struct emptying *e)
{
	char path[sizeof(LAYERS_DIR) + (size_t)2 * RECORD_ID_SIZE +
		  LAYOUT_RESOURCE_SIZE];
	char name[LAYOUT_RESOURCE_SIZE];

	if (!e->keep[0])
		return sys_openat(dir, RESOURCE_TOP,
				  O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	layout_resource_dir(number, name);
	(void)snprintf(path, sizeof(path), LAYERS_DIR "/%s/%s/%s",
		       s->record.family, e->keep, name);
	return sys_openat(s->store->dir, path,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

/*
 * The removal of its content has made room for a new one.  If not, the old one
 * takes that place, and looks like it as far as it can without room.
 */
static int bring_back(struct hb_session *s, size_t number,
		      const struct emptying *e, struct hb_error *err)
{
	auto_fd int dir = session_open_store(s, number, err);
	auto_fd int like = -1;
	int r;

	if (dir < 0)
		return dir;
	like = open_likeness(s, number, dir, e);
	r = tree_remove(dir, UPPER_TMP, err);
	if (r >= 0)
		r = tree_remove(dir, UPPER_NEW, err);
	if (r < 0)
		return r;
	r = like < 0 ? like : layers_make_upper(dir, UPPER_TMP, like, NULL);
	if (r >= 0)
		r = sys_renameat(dir, UPPER_TMP, dir, UPPER);
	if (r >= 0) {
		(void)sys_unlinkat(dir, e->name, AT_REMOVEDIR);
	} else {
		(void)tree_remove(dir, UPPER_TMP, NULL);
		(void)layers_dress_upper(dir, e->name, like, NULL);
		r = sys_renameat(dir, e->name, dir, UPPER);
	}
	if (r >= 0)
		r = sys_fsync(dir);
	return r < 0 ? hb_fail(err, r, "cannot begin an empty layer") : 0;
}

int session_empty(struct hb_session *s, const struct emptying *e,
		  struct hb_error *err)
{
	size_t n = s->record.n_resources;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = put_away(s, i, e, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = clear(s, i, e, err);
	if (r >= 0)
		r = forget_layers(s, e, err);
	for (size_t i = n; r >= 0 && i > 0; i--)
		r = bring_back(s, i - 1, e, err);
	return r;
}

int session_finish_emptying(struct hb_session *s, struct hb_error *err)
{
	auto_fd int dir = session_open_store(s, 0, err);
	struct emptying e = { 0 };
	int r = dir < 0 ? dir : store_each_name(dir, note_name, &e, err);

	if (r >= 0 && !e.name[0])
		r = hb_fail(err, -HB_E_CORRUPT,
			    "'" UPPER_GONE
			    "' is missing at the first resource");
	return r < 0 ? r : session_empty(s, &e, err);
}

void session_choose_empty(const char *keep, struct emptying *ret)
{
	*ret = (struct emptying){ 0 };
	(void)snprintf(ret->name, sizeof(ret->name), "%s%s",
		       keep ? UPPER_TO : UPPER_GONE, keep ? keep : "");
	(void)snprintf(ret->keep, sizeof(ret->keep), "%s", keep ? keep : "");
}
