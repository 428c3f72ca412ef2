/* SPDX-License-Identifier: Apache-2.0 */
#include "session/freeze.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "session/alike_notes.h"
#include "session/gone.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/remove/empty.h"
#include "session/resource_dirs.h"
#include "session/state.h"
#include "store/berth.h"
#include "store/layout.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Freezing, each before the next:
 *
 *	record		names the layer, and says that it is being made
 *	per resource	upper.tmp, with the attributes of upper
 *			upper.tmp -> upper.new: it is whole
 *			upper -> the layer
 *			upper.new -> upper
 *	sync		the directories in which names changed
 *	record		says that it is made
 *
 * Which of these names are there says how far it got, so that going on after a
 * crash is the same loop.  Nothing is copied: it takes as long for a thousand
 * changes as for one.
 */

#define UPPER	  "upper"
#define UPPER_TMP "upper.tmp"
#define UPPER_NEW "upper.new"
static int make_layer_dir(const struct hb_session *s, const char *layer,
			  struct hb_error *err)
{
	char path[sizeof(LAYERS_DIR) + RECORD_ID_SIZE];
	auto_fd int family = -1;
	int r;

	(void)snprintf(path, sizeof(path), LAYERS_DIR "/%s", s->record.family);
	family = store_open_own(s->store->dir, path, err);
	if (family < 0)
		return family;
	r = sys_mkdirat(family, layer, 0700);
	if (r == -EEXIST)
		return 0;
	if (r >= 0)
		r = sys_fsync(family);
	return r < 0 ? hb_fail(err, r, "cannot make a layer") : 0;
}

static int find_any(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	(void)ctx;
	(void)err;
	/* Whiteouts over stores are ours. */
	if (berth_is_name(visit->name))
		return TREE_SKIP;
	return -ENOTEMPTY;
}

int session_has_upper(struct hb_session *s, struct hb_error *err)
{
	int r;

	r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = tree_walk(s->resources[i].dir, UPPER, TREE_FLAT | TREE_OURS,
			      find_any, NULL, NULL);
	if (r == -ENOTEMPTY)
		return 1;
	return r < 0 ? hb_fail(err, r, "cannot look at the changes") : 0;
}

static bool is_there(int dir, const char *name)
{
	struct sys_attr attr;

	return sys_attr_at(dir, name, &attr) >= 0;
}

/* A command may have left it closed. */
static int open_upper(int dir)
{
	int fd = sys_openat(dir, UPPER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	if (fd == -EACCES && session_open_top(dir) >= 0)
		fd = sys_openat(dir, UPPER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
				0);
	return fd;
}

static int freeze_one(struct hb_session *s, size_t number, const char *layer,
		      struct hb_error *err)
{
	char name[LAYOUT_RESOURCE_SIZE];
	auto_fd int dir = gone_open_store(s, number, err);
	auto_fd int place = -1;
	struct sys_attr attr = { 0 };
	int r = 0;

	if (dir < 0)
		return dir;
	layout_resource_dir(number, name);
	place = layers_open(s, layer, err);
	if (place < 0)
		return place;
	if (!is_there(place, name) && !is_there(dir, UPPER_NEW)) {
		auto_fd int upper = open_upper(dir);

		if (upper < 0)
			return hb_fail(err, upper, "cannot open the changes");
		r = tree_remove(dir, UPPER_TMP, err);
		if (r >= 0)
			r = layers_make_upper(dir, UPPER_TMP, upper, err);
		if (r >= 0)
			r = sys_renameat(dir, UPPER_TMP, dir, UPPER_NEW);
		if (r < 0)
			return hb_fail(err, r, "cannot make a layer");
	}
	/*
	 * Its mode is that of the old one, even if a crash left another mode
	 * there.
	 */
	if (!is_there(place, name)) {
		r = sys_attr_at(dir, UPPER_NEW, &attr);
		if (r >= 0)
			r = layers_move_dir(dir, UPPER, place, name,
					    attr.mode & 07777);
	} else if (sys_attr_at(dir, UPPER_NEW, &attr) >= 0) {
		auto_fd int fd = sys_openat(
			place, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);

		r = fd < 0 ? fd : sys_chmod_fd(fd, attr.mode & 07777);
	}
	if (r >= 0 && is_there(dir, UPPER_NEW))
		r = sys_renameat(dir, UPPER_NEW, dir, UPPER);
	if (r >= 0)
		r = sys_fsync(place);
	if (r >= 0)
		r = sys_fsync(dir);
	return r < 0 ? hb_fail(err, r, "cannot freeze the changes of '%s'",
			       s->record.resources[number].source)
		     : 0;
}

static int freeze_all(struct hb_session *s, struct hb_error *err)
{
	const char *layer = s->record.layers[s->record.n_layers - 1].id;
	int r;

	r = make_layer_dir(s, layer, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = freeze_one(s, i, layer, err);
	if (r < 0)
		return r;
	s->record.is_freezing = false;
	/* If this one is lost, the next to open it finds nothing left to do. */
	r = session_save(s, err);
	if (r < 0)
		s->record.is_freezing = true;
	return r;
}

int session_lock_family(struct hb_session *s, struct hb_error *err)
{
	int fd;

	if (s->family_depth > 0) {
		s->family_depth++;
		return 0;
	}
	if (s->record.family[0] == '\0')
		memcpy(s->record.family, s->record.id,
		       sizeof(s->record.family));
	fd = family_lock(s->store, s->record.family, true, err);
	if (fd < 0)
		return fd;
	s->family_lock = fd;
	s->family_depth = 1;
	return 0;
}

void session_unlock_family(struct hb_session *s)
{
	if (s->family_depth > 0 && --s->family_depth == 0)
		fd_closep(&s->family_lock);
}

/*
 * The kernel takes no layer that lies below another one, and a layer must be on
 * the upper's mount to be had by a rename.
 */
int session_check_stack(const struct hb_session *s, struct hb_error *err)
{
	char shown[QUOTE_SHOWN];

	for (size_t i = 0; i < s->record.n_resources; i++) {
		const struct record_resource *resource =
			&s->record.resources[i];

		if (!berth_is_used(resource) &&
		    !path_is_beneath(s->store->path, resource->source))
			continue;
		hb_fix(err,
		       "a session with --state-dir DIR, on the same mount as "
		       "'%s' and not in it",
		       quote_shown(resource->source, shown, sizeof(shown)));
		return hb_fail(
			err, -HB_E_UNSUPPORTED,
			"the pending changes of '%s' lie inside of it or "
			"beside it, and there no layers can be stacked",
			shown);
	}
	return 0;
}

/* With the family's lock. */
static int freeze(struct hb_session *s, const char *mark, struct hb_error *err)
{
	struct record_layer layer = { .frozen = sys_now().tv_sec };
	size_t n;
	int r;

	r = session_open_resources(s, err);
	if (r >= 0)
		r = session_count_layers(s, &n, err);
	if (r < 0)
		return r;
	if (n >= LAYERS_DEEP) {
		hb_fix(err,
		       "commit the pending changes, or roll back to a mark");
		return hb_fail(
			err, -HB_E_STATE,
			"session '%s' has %d layers, and no more can lie "
			"over each other",
			s->record.name, LAYERS_DEEP);
	}
	(void)snprintf(layer.mark, sizeof(layer.mark), "%s", mark);
	r = layout_new_id(layer.id, err);
	if (r >= 0)
		r = session_last_done(s, &layer.after, err);
	if (r >= 0)
		r = record_add_layer(&s->record, &layer, err);
	if (r < 0)
		return r;
	s->record.is_freezing = true;
	r = session_save_durably(s, err);
	if (r < 0) {
		/* Whichever record is there, the upper is where it was. */
		s->record.is_freezing = false;
		record_remove_layer(&s->record, s->record.n_layers - 1);
		return r;
	}
	return freeze_all(s, err);
}

int session_freeze(struct hb_session *s, const char *mark, struct hb_error *err)
{
	int r;

	r = session_check_stack(s, err);
	/* A user who throws marks away may find the disk full. */
	if (r >= 0)
		record_keep_room(s->dir, &s->record);
	/* From then on nothing is dropped from it. */
	if (r >= 0)
		r = session_drop_alike(s, err);
	if (r >= 0)
		r = session_lock_family(s, err);
	if (r < 0)
		return r;
	r = freeze(s, mark, err);
	session_unlock_family(s);
	return r;
}

/* Whether a rollback on a full disk was interrupted. */
static bool is_emptying(const struct hb_session *s)
{
	for (size_t i = 0; i < s->record.n_resources; i++) {
		auto_fd int dir = gone_open_store(s, i, NULL);

		if (dir < 0 || session_is_emptying(dir))
			return true;
	}
	return false;
}

int session_finish_freeze(struct hb_session *s, struct hb_error *err)
{
	int r;

	if (!s->record.is_freezing || s->record.n_layers == 0)
		return 0;
	r = session_open_resources(s, err);
	/* A rollback on a full disk that was interrupted has ended it. */
	if (r >= 0 && !s->record.is_freezing)
		return 0;
	/* A mark is about the layers alone: they are there without the rest. */
	if (r == -HB_E_STATE && !is_emptying(s))
		r = 0;
	if (r >= 0)
		r = session_lock_family(s, err);
	if (r >= 0) {
		r = freeze_all(s, err);
		session_unlock_family(s);
	}
	session_close_resources(s);
	return r < 0 ? hb_fail(err, r, "session '%s'", s->record.name) : 0;
}

int session_make_layer(struct hb_session *s, char ret_id[RECORD_ID_SIZE],
		       int *ret_dirs, struct hb_error *err)
{
	char name[LAYOUT_RESOURCE_SIZE];
	int r;

	r = layout_new_id(ret_id, err);
	if (r >= 0)
		r = make_layer_dir(s, ret_id, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		auto_fd int place = layers_open(s, ret_id, err);

		if (place < 0)
			return place;
		layout_resource_dir(i, name);
		r = layers_make_upper(place, name, s->resources[i].upper, err);
		if (r >= 0)
			r = sys_fsync(place);
		if (r >= 0)
			r = ret_dirs[i] = sys_openat(
				place, name,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
		if (r < 0)
			return hb_fail(err, r, "cannot make a layer");
	}
	return r < 0 ? r : 0;
}
