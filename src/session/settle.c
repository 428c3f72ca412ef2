/* SPDX-License-Identifier: Apache-2.0 */
#include "session/settle.h"

#include "base/auto.h"
#include "base/error.h"
#include "session/alike_notes.h"
#include "session/database/placed.h"
#include "session/freeze.h"
#include "session/git/indexes.h"
#include "session/interruption.h"
#include "session/live/unmark.h"
#include "session/on_disk.h"
#include "session/open.h"
#include "session/publish/publish.h"
#include "session/remove/void.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "session/state.h"
#include "session/strategy/shown.h"
#include "store/berth.h"
#include "store/boot.h"
#include "store/progress.h"
#include "store/resource.h"
#include "store/store.h"
#include "strategy/moved.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is left to do when a box or a command has ended, by itself or not.
 *
 * The overlay is mounted volatile, so nothing that the box wrote is on disk
 * unless we see to it.  Until then the record says so, and a machine that goes
 * down meanwhile is known by its boot id.
 */

#define WORK  "work"
#define TRASH "trash"

/*
 * Up to this many files are written back one by one; syncing the whole file
 * system would wait for what others have written.
 */
#define SYNC_FILES_MAX 256

/* More than this is not even looked at. */
#define SYNC_VISITS_MAX 4096

/* Old work directories in the trash, before they are removed. */
#define WORK_TRIES 1000

struct sync_walk {
	int *files;
	size_t n, n_visits;
};

static int open_for_sync(void *ctx, const struct tree_visit *visit,
			 struct hb_error *err)
{
	struct sync_walk *walk = ctx;
	int fd;

	(void)err;
	if (++walk->n_visits > SYNC_VISITS_MAX)
		return -E2BIG;
	if (visit->when == TREE_LEAVE)
		return sys_fsync(visit->dir);
	if (!S_ISREG(visit->attr.mode))
		return 0;
	if (walk->n >= SYNC_FILES_MAX)
		return -E2BIG;
	fd = sys_openat(visit->dir, visit->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	/* A file that its owner may not read: then all at once. */
	if (fd < 0)
		return -E2BIG;
	walk->files[walk->n++] = fd;
	return sys_sync_range(fd);
}

static int sync_layer(struct resource *resource, struct hb_error *err)
{
	int files[SYNC_FILES_MAX];
	struct sync_walk walk = { .files = files };
	int r;

	r = tree_walk(resource->dir, "upper", TREE_OURS, open_for_sync, &walk,
		      NULL);
	for (size_t i = 0; i < walk.n; i++) {
		if (r >= 0)
			r = sys_fsync(files[i]);
		sys_close(files[i]);
	}
	if (r >= 0)
		r = sys_fsync(resource->upper);
	if (r < 0)
		r = sys_syncfs(resource->upper);
	if (r < 0)
		return hb_fail(err, r, "cannot sync the changes");
	return 0;
}

/* Syncs what the upper layers hold. */
static int session_sync_layers(struct hb_session *s, struct hb_error *err)
{
	auto_progress struct progress progress = PROGRESS_NONE;
	int r;

	r = session_open_resources(s, err);
	progress_begin(&progress, s->store, "writing the changes to disk");
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = sync_layer(&s->resources[i], err);
	return r;
}

/*
 * A work directory carries nothing from one mount to the next, and one of a
 * volatile mount cannot be used again.  Moved before it is removed, so that its
 * name is free in any case.
 */
static int drop_one(struct resource *resource, struct hb_error *err)
{
	auto_fd int trash = -1;
	char name[32];
	int r;

	if (sys_faccessat(resource->dir, WORK, F_OK) == -ENOENT)
		return 0;
	trash = store_open_own(resource->dir, TRASH, err);
	if (trash < 0)
		return trash;
	for (int i = 0; i < WORK_TRIES; i++) {
		(void)snprintf(name, sizeof(name), "work.%d", i);
		r = sys_renameat2(resource->dir, WORK, trash, name,
				  RENAME_KEEP);
		/* No flags there: only what is empty could be replaced. */
		if (r == -EINVAL)
			r = sys_renameat(resource->dir, WORK, trash, name);
		if (r != -EEXIST && r != -ENOTEMPTY)
			break;
		(void)tree_remove(trash, name, NULL);
	}
	if (r < 0)
		return hb_fail(err, r, "cannot put a work directory away");
	(void)tree_remove(trash, name, NULL);
	return 0;
}

int session_drop_work(struct hb_session *s, struct hb_error *err)
{
	int r;

	r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = drop_one(&s->resources[i], err);
	return r;
}

/* Whether what was written in the last box may have gone with the machine. */
static int note_lost(struct hb_session *s, bool *ret_lost, struct hb_error *err)
{
	char boot[RECORD_BOOT_SIZE];
	int r;

	r = boot_id(boot, err);
	if (r < 0)
		return r;
	*ret_lost = strcmp(boot, s->record.boot) != 0;
	if (!*ret_lost)
		return 0;
	s->record.has_lost = true;
	s->record.is_unsynced = false;
	store_say(s->store,
		  "session '%s': the machine went down before all was on disk; "
		  "the last writes in it may be missing",
		  s->record.name);
	return 0;
}

int session_settle_sync(struct hb_session *s, struct hb_error *err)
{
	bool is_lost;
	int r;

	r = note_lost(s, &is_lost, err);
	if (r >= 0 && !is_lost)
		r = session_sync_layers(s, err);
	if (r < 0)
		return r;
	s->record.is_unsynced = false;
	return session_save(s, err);
}

/* What the box did is in the layers, and nothing else is. */
static int settle_layers(struct hb_session *s, enum settle_how how,
			 bool *ret_is_lost, struct hb_error *err)
{
	bool after_crash = how == SETTLE_CRASHED;
	int r = 0;

	*ret_is_lost = false;
	if (after_crash)
		r = note_lost(s, ret_is_lost, err);
	if (r < 0)
		return r;
	for (size_t i = 0; s->has_resources && i < s->record.n_resources; i++) {
		r = session_open_top(s->resources[i].dir);
		if (r < 0)
			return hb_fail(err, r, "cannot open the changes");
	}
	r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = moved_settle(&s->resources[i], err);
	if (r >= 0)
		r = unmark_settle(s, err);
	if (r < 0)
		return r;
	/* Until this has succeeded the session stays active. */
	r = shown_after_box(s, *ret_is_lost, err);
	if (r >= 0)
		r = publish_settle(s,
				   (after_crash ? 0 : PUBLISH_ASKS) |
					   (*ret_is_lost ? PUBLISH_LOST : 0),
				   err);
	if (r >= 0)
		r = session_open_resources(s, err);
	/* An upper that holds nothing else is to be empty. */
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		berth_show(s->resources[i].upper);
	if (r >= 0 && how != SETTLE_EMPTY)
		session_note_alike(s, false);
	return r;
}

int session_settle_box(struct hb_session *s, enum settle_how how,
		       struct hb_error *err)
{
	bool is_lost, was_fresh;
	int has_upper, r;

	r = settle_layers(s, how, &is_lost, err);
	if (r >= 0)
		r = session_take_databases(s, err);
	if (r >= 0 && (how == SETTLE_OR_DROP || how == SETTLE_EMPTY))
		r = session_is_void(s, how == SETTLE_EMPTY, err);
	if (r != 0)
		return r;
	has_upper = session_has_upper(s, err);
	if (has_upper < 0)
		return has_upper;
	/* It stays: from here on it is on disk. */
	for (size_t i = 0; s->is_fresh && i < s->record.n_resources; i++) {
		r = resource_make_dirs(s->resources[i].dir, err);
		if (r < 0)
			return r;
	}
	was_fresh = s->is_fresh;
	s->is_fresh = false;
	/* Said before the sync begins: an interrupt may end us there. */
	s->record.is_unsynced =
		!is_lost && has_upper &&
		(!s->record.is_durable || shown_has_trees(&s->record));
	/* The next caller means the session that ended last. */
	if (how != SETTLE_CRASHED)
		s->record.used = sys_now();
	r = session_end(s, err);
	if (r >= 0 && how == SETTLE_CRASHED && !is_lost)
		store_say(s->store,
			  "session '%s': its command was ended from outside; "
			  "its changes are kept",
			  s->record.name);
	if (r >= 0 && s->record.is_unsynced)
		r = session_settle_sync(s, err);
	if (r >= 0)
		r = session_drop_work(s, err);
	if (r >= 0 && was_fresh)
		r = on_disk_session(s->store, &s->record, s->dir, false, err);
	if (r >= 0 && was_fresh)
		r = on_disk_name(s->store, s->store->is_made, err);
	return r;
}

void session_leave(struct hb_session *s, struct hb_error *err)
{
	(void)session_break(s, NULL);
	hb_fix(err, "look at the files named above, then: holdback recover @%s",
	       s->record.name);
}

bool session_finish(struct hb_session *s, const char *in_place)
{
	struct hb_error why = s->txn.unfinished;
	enum txn_recovered what;

	if (!s->txn.is_unfinished)
		return true;
	/* What was kept for the record is free now, and may be enough. */
	if (session_remembered(s, false, NULL) >= 0 &&
	    txn_recover(&s->txn, false, &what, NULL) >= 0)
		return true;
	store_say(s->store,
		  "session '%s': %s; the next command completes the record, "
		  "or: holdback recover @%s (%s: %s)",
		  s->record.name, in_place, s->record.name, why.text,
		  hb_strerror(why.code));
	return false;
}

int session_settle_journal(struct hb_session *s, bool back,
			   enum txn_recovered *ret_what, struct hb_error *err)
{
	static const char *const said[] = {
		[RECOVERED_FORWARD] = "finished",
		[RECOVERED_BACK] = "reversed",
	};
	struct txn *txn = NULL;
	int r;

	*ret_what = RECOVERED_NOTHING;
	if (!session_has_journal(s))
		return 0;
	r = session_txn(s, &txn, err);
	if (r < 0)
		return hb_fail(err, r, "session '%s'", s->record.name);
	session_remember(s);
	r = txn_recover(txn, back, ret_what, err);
	if (txn->n_left > 0)
		session_leave(s, err);
	if (r == -HB_E_CORRUPT)
		hb_fix(err,
		       "put 'journal' back as it was; holdback recover --list "
		       "@%s names the files that it replaced, --take DIR "
		       "copies them; then holdback cleanup -y @%s gives the "
		       "session up, with all that undo holds",
		       s->record.name, s->record.name);
	if (r >= 0)
		r = session_remembered(s, false, err);
	if (r >= 0 && *ret_what != RECOVERED_NOTHING)
		indexes_restore(s);
	/* The upper may be another one now. */
	session_close_resources(s);
	if (r < 0)
		return hb_fail(err, r, "session '%s'", s->record.name);
	if (!s->box)
		r = unmark_settle(s, err);
	session_close_resources(s);
	if (r < 0)
		return r;
	if (*ret_what != RECOVERED_NOTHING)
		session_note_alike(s, false);
	if (*ret_what != RECOVERED_NOTHING)
		store_say(s->store,
			  "session '%s': an interrupted change was %s",
			  s->record.name, said[*ret_what]);
	return 0;
}
