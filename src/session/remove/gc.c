/* SPDX-License-Identifier: Apache-2.0 */
#include "session/remove/gc.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/num.h"
#include "git/kept/kept_file.h"
#include "git/kept/kept_refs.h"
#include "session/freeze.h"
#include "session/git/own_record.h"
#include "session/gone.h"
#include "session/interruption.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/publish/publish.h"
#include "session/remove/cleanup.h"
#include "session/remove/void.h"
#include "session/session.h"
#include "session/settle.h"
#include "session/state.h"
#include "session/strategy/shown.h"
#include "store/live.h"
#include "store/projects.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/place.h"
#include "txn/history.h"
#include "txn/late.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Which parts of the store no session needs any more.
 *
 * (a) A session is judged with its lock held, or not at all.  Its record says
 *     what it is, and its own directories say what belongs to it.
 * (b) Pending changes are never removed, nor is a session that has some.
 * (c) The record forgets a transaction's layers before its journal goes, and
 *     the journal goes before what undo would have needed.  So the rest that a
 *     kill leaves is found again, by its age, as belonging to no transaction.
 *
 * tests/txn/gc.sh holds these.
 */

struct gc {
	struct hb_store *store;
	const struct hb_gc_options *options;
	int64_t cutoff;
	hb_garbage_fn fn;
	void *ctx;
	uint64_t bytes;
};

static int tell(struct gc *gc, const char *session, const char *what,
		const struct layers_freed *freed, bool is_kept,
		struct hb_error *err)
{
	const struct hb_garbage garbage = {
		.session = session,
		.what = what,
		.n = freed->n,
		.bytes = freed->bytes,
		.is_kept = is_kept,
	};

	if (freed->n == 0)
		return 0;
	if (!is_kept)
		gc->bytes += freed->bytes;
	return gc->fn(gc->ctx, &garbage, err);
}

/* -HB_E_BUSY: a process works on it; -ENOENT: none ever has. */
static int try_lock(int dir, bool make)
{
	int r = sys_lock_file(dir, "lock", make ? O_CREAT : 0, 0);

	return r == -EWOULDBLOCK ? -HB_E_BUSY : r;
}

/* Interrupted creations and removals. */
static int collect_rest(void *ctx, const char *name, struct hb_error *err)
{
	auto_record struct session_record record = { 0 };
	struct layers_freed freed = { .n = 1 };
	struct gc *gc = ctx;
	auto_fd int dir = -1;
	auto_fd int lock = -1;
	bool has_record;
	int r;

	if (strncmp(name, STORE_NEW, sizeof(STORE_NEW) - 1) != 0 &&
	    strncmp(name, STORE_GONE, sizeof(STORE_GONE) - 1) != 0)
		return 0;
	dir = store_open_own(gc->store->sessions, name, NULL);
	if (dir < 0)
		return 0;
	lock = try_lock(dir, !gc->options->dry_run);
	if ((lock < 0 && lock != -ENOENT) ||
	    !store_leads_to(gc->store, name, dir))
		return 0;
	has_record = record_read(dir, &record, NULL) >= 0;
	r = layers_remove_tree(gc->store->sessions, name, true, &freed, err);
	if (r >= 0 && !gc->options->dry_run) {
		live_remove(dir);
		r = session_remove_gone(gc->store, name,
					has_record ? &record : NULL, err);
	}
	if (r < 0)
		return r;
	return tell(gc, NULL, "leftovers of an interrupted command", &freed,
		    false, err);
}

/* What a box did to a copy is not in the upper yet. */
static bool holds_nothing(struct hb_session *s)
{
	size_t n_layers = 1;
	uint64_t done = 1;

	return !shown_has_trees(&s->record) && !session_has_journal(s) &&
	       session_count_layers(s, &n_layers, NULL) >= 0 && n_layers == 0 &&
	       session_last_done(s, &done, NULL) >= 0 && done == 0 &&
	       session_has_upper(s, NULL) == 0 && !session_has_gone(s) &&
	       !session_has_other_top(s);
}

int gc_has_crashed(const struct hb_store *store, const char *name,
		   bool *ret_is_empty)
{
	struct hb_session s = {
		.store = store, .dir = -1, .lock = -1, .family_lock = -1
	};
	auto_fd int lock = -1;
	int r;

	*ret_is_empty = false;
	s.dir = store_open_session(store, name, NULL);
	if (s.dir < 0)
		return 0;
	lock = try_lock(s.dir, false);
	r = lock < 0 ? -1 : record_read(s.dir, &s.record, NULL);
	if (r >= 0 && s.record.state == SESSION_ACTIVE) {
		*ret_is_empty = holds_nothing(&s);
		r = 1;
	} else {
		r = 0;
	}
	session_close_resources(&s);
	free(s.infos);
	record_done(&s.record);
	fd_closep(&s.dir);
	return r;
}

/* Whether a process holds the lock of the session with that id. */
static bool is_id_locked(const struct hb_store *store, const char *id)
{
	char **names = NULL;
	bool is_found = false, is_locked = false;
	size_t n = 0;

	/* What cannot be told may be. */
	if (store_names(store, &names, &n, NULL) < 0)
		return true;
	for (size_t i = 0; i < n && !is_found; i++) {
		auto_record struct session_record record = { 0 };
		auto_fd int dir = store_open_session(store, names[i], NULL);
		auto_fd int lock = -1;

		if (dir < 0 || record_read(dir, &record, NULL) < 0 ||
		    strcmp(record.id, id) != 0)
			continue;
		is_found = true;
		lock = try_lock(dir, false);
		is_locked = lock < 0 && lock != -ENOENT;
	}
	store_free_names(names, n);
	return is_locked;
}

int gc_is_stale_check(const struct hb_store *store, const char *name,
		      const struct hb_session *own)
{
	auto_record struct session_record record = { 0 };
	auto_fd int dir = store_open_session(store, name, NULL);
	auto_fd int lock = dir < 0 ? dir : try_lock(dir, false);

	if (dir < 0 || (lock < 0 && lock != -ENOENT) ||
	    record_read(dir, &record, NULL) < 0 || !record.checks[0])
		return 0;
	if (own && own->has_lock && strcmp(record.checks, own->record.id) == 0)
		return 1;
	return !is_id_locked(store, record.checks);
}

void gc_remove_checks(const struct hb_session *own)
{
	struct hb_store store = *own->store;
	char **names = NULL;
	size_t n = 0;

	/* That its command was killed is of no use to anybody any more. */
	store.listener = NULL;
	(void)store_names(&store, &names, &n, NULL);
	for (size_t i = 0; i < n; i++)
		if (gc_is_stale_check(&store, names[i], own))
			(void)gc_remove_session(&store, names[i], false, NULL);
	store_free_names(names, n);
}

/* The parts of one session for transactions that no user will undo. */
struct undo {
	struct gc *gc;
	struct hb_session *session;
	enum history which;
	uint64_t *ids; /* that go, in the order of goes_first() */
	size_t n;
	uint64_t kept, first_kept; /* in that order; 0: none */
	struct layers_freed freed;
};

/*
 * The transaction that undo or redo takes next goes last: the rest that a kill
 * leaves of a row of them has no gap.
 */
static bool goes_first(enum history which, uint64_t a, uint64_t b)
{
	return which == HISTORY_DONE ? a < b : a > b;
}

/* What cannot be told is kept. */
static bool was_written(struct undo *undo, uint64_t id)
{
	struct txn *txn;

	return session_txn(undo->session, &txn, NULL) < 0 ||
	       late_was_written(txn, undo->which, id, NULL) != 0;
}

static int judge_id(void *ctx, uint64_t id, struct hb_error *err)
{
	struct undo *undo = ctx;
	struct timespec stamp;
	int r;

	r = history_stamp(undo->session->dir, undo->which, id, &stamp, err);
	if (r < 0)
		return r;
	if (stamp.tv_sec > undo->gc->cutoff)
		return 0;
	if (was_written(undo, id)) {
		undo->kept++;
		if (undo->first_kept == 0 ||
		    goes_first(undo->which, id, undo->first_kept))
			undo->first_kept = id;
		return 0;
	}
	if (grow(undo->ids, undo->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot list undo");
	undo->ids[undo->n++] = id;
	return 0;
}

static int compare_done(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return goes_first(HISTORY_DONE, x, y) ? -1 : x != y;
}

static int compare_undone(const void *a, const void *b)
{
	return compare_done(b, a);
}

/* What came after something that stays is needed to get back there. */
static void keep_later(struct undo *undo)
{
	size_t n = 0;

	for (size_t i = 0; i < undo->n; i++)
		if (undo->first_kept == 0 ||
		    goes_first(undo->which, undo->ids[i], undo->first_kept))
			undo->ids[n++] = undo->ids[i];
	undo->n = n;
	if (n > 0)
		qsort(undo->ids, n, sizeof(*undo->ids),
		      undo->which == HISTORY_DONE ? compare_done
						  : compare_undone);
}

static bool has_id(const struct undo *undo, uint64_t id)
{
	for (size_t i = 0; i < undo->n; i++)
		if (undo->ids[i] == id)
			return true;
	return false;
}

/* What the record has because of them; true: it has to be written. */
static bool forget_layers(struct undo *undo)
{
	struct session_record *record = &undo->session->record;
	bool has_changed = false;
	uint64_t before = 0;

	/* Of what is done all that is older goes too. */
	if (undo->which == HISTORY_UNDONE)
		(void)session_last_done(undo->session, &before, NULL);
	for (size_t i = record->n_layers; i > 0; i--) {
		struct record_layer *layer = &record->layers[i - 1];
		bool ends = layer->until != 0 && has_id(undo, layer->until);
		bool begins = layer->from != 0 && has_id(undo, layer->from);
		/* Of what was undone it is the other way round. */
		bool goes = undo->which == HISTORY_DONE ? ends : begins;

		/* No redo brings back the base that a copy lies over. */
		if (undo->which == HISTORY_UNDONE && layer->is_copy &&
		    (layer->from == 0 || begins) && layer->after != 0 &&
		    has_id(undo, layer->after)) {
			record_remove_layer(record, i - 1);
			has_changed = true;
			continue;
		}
		/* Its number will be given to another one. */
		if (layer->after != 0 && has_id(undo, layer->after)) {
			layer->after = before;
			has_changed = true;
		}
		if (!ends && !begins)
			continue;
		has_changed = true;
		/* A copy can be gone back to again. */
		if (goes && !(layer->is_copy && begins && !ends)) {
			record_remove_layer(record, i - 1);
			continue;
		}
		if (ends)
			layer->until = 0;
		if (begins && !goes)
			layer->is_copy = false;
		if (begins)
			layer->from = 0;
	}
	return has_changed;
}

static int remove_objects(struct undo *undo, uint64_t id, bool dry_run,
			  struct hb_error *err)
{
	static const char *const names[] = { "undo", "txn", "trash" };
	struct hb_session *s = undo->session;
	char name[32];
	int r = 0;

	(void)snprintf(name, sizeof(name), "%" PRIu64, id);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		for (size_t k = 0; r >= 0 && k < 3; k++) {
			auto_fd int dir = store_open_own(s->resources[i].dir,
							 names[k], NULL);

			if (dir >= 0)
				r = layers_remove_tree(dir, name, dry_run,
						       &undo->freed, err);
		}
	return r;
}

/* What the session and its references are based on outlives the undo data. */
static int settle_records(const struct undo *undo, uint64_t id,
			  struct hb_error *err)
{
	const struct hb_session *s = undo->session;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		int dir = s->resources[i].dir;
		bool is_in_effect = undo->which == HISTORY_DONE;
		int r = dir < 0 ? 0 : kept_refs_settle(dir, id, is_in_effect);

		if (r >= 0 && dir >= 0)
			r = own_branch_settle(dir, id, is_in_effect);
		if (r < 0)
			return hb_fail(err, r, "cannot keep the references");
	}
	return 0;
}

/* The record is in place before the journal that it counted by goes. */
static int drop_one(const struct undo *undo, uint64_t id, struct hb_error *err)
{
	bool is_in_effect = undo->which == HISTORY_DONE;
	int r = is_in_effect ? settle_records(undo, id, err) : 0;

	if (r >= 0)
		r = history_drop(undo->session->dir, undo->which, id, err);
	if (r >= 0 && !is_in_effect)
		r = settle_records(undo, id, err);
	return r;
}

static int collect_undo(struct gc *gc, struct hb_session *s, enum history which,
			struct hb_error *err)
{
	struct undo undo = { .gc = gc, .session = s, .which = which };
	bool dry_run = gc->options->dry_run;
	struct layers_freed kept = { 0 };
	uint64_t done = 0;
	int r;

	r = history_each(s->dir, which, judge_id, &undo, err);
	keep_later(&undo);
	if (r >= 0 && !dry_run && undo.n > 0 && forget_layers(&undo))
		r = session_save_durably(s, err);
	for (size_t i = 0; r >= 0 && i < undo.n; i++) {
		if (!dry_run)
			r = drop_one(&undo, undo.ids[i], err);
		if (r >= 0)
			r = remove_objects(&undo, undo.ids[i], dry_run, err);
	}
	if (r >= 0 && !dry_run && undo.n > 0 &&
	    session_last_done(s, &done, NULL) >= 0 && done == 0) {
		s->record.undo_bytes = 0;
		r = session_save(s, err);
	}
	undo.freed.n = undo.n;
	kept.n = undo.kept;
	free(undo.ids);
	if (r >= 0)
		r = tell(gc, s->record.name,
			 which == HISTORY_DONE ? "undo data" : "redo data",
			 &undo.freed, false, err);
	if (r >= 0)
		r = tell(gc, s->record.name,
			 "undo data, written to after the commit", &kept, true,
			 err);
	return r;
}

/* Leftovers in one directory of a resource's store. */
struct rest {
	struct gc *gc;
	struct hb_session *session;
	int dir;
	bool is_staged; /* txn/: copies, which are never the only ones */
	struct layers_freed freed;
};

static int collect_name(void *ctx, const char *name, struct hb_error *err)
{
	struct rest *rest = ctx;
	struct sys_attr attr;
	int64_t id;
	bool is_work = strncmp(name, "work.", 5) == 0;

	if (num_int(name, 1, INT64_MAX, &id) >= 0 &&
	    history_has(rest->session->dir, (uint64_t)id))
		return 0;
	if (sys_attr_at(rest->dir, name, &attr) < 0)
		return 0;
	if (!rest->is_staged && !is_work &&
	    attr.ctime.tv_sec > rest->gc->cutoff)
		return 0;
	rest->freed.n++;
	return layers_remove_tree(rest->dir, name, rest->gc->options->dry_run,
				  &rest->freed, err);
}

static int collect_leftovers(struct gc *gc, struct hb_session *s,
			     struct hb_error *err)
{
	static const char *const names[] = { "txn", "undo", "trash" };
	struct rest rest = { .gc = gc, .session = s };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		for (size_t k = 0; r >= 0 && k < 3; k++) {
			auto_fd int dir = store_open_own(s->resources[i].dir,
							 names[k], NULL);

			if (dir < 0)
				continue;
			rest.dir = dir;
			rest.is_staged = k == 0;
			r = store_each_name(dir, collect_name, &rest, err);
		}
	if (r >= 0 && !gc->options->dry_run)
		r = session_drop_work(s, err);
	return r < 0 ? r
		     : tell(gc, s->record.name, "leftovers", &rest.freed, false,
			    err);
}

static int collect_session(struct gc *gc, struct hb_session *s,
			   struct hb_error *err)
{
	int r;

	/* One whose directory is gone, or that is broken, is not touched. */
	if (session_open_resources(s, NULL) < 0 || session_has_gone(s)) {
		session_close_resources(s);
		return 0;
	}
	r = collect_undo(gc, s, HISTORY_DONE, err);
	if (r >= 0)
		r = collect_undo(gc, s, HISTORY_UNDONE, err);
	if (r >= 0)
		r = collect_leftovers(gc, s, err);
	session_close_resources(s);
	return r;
}

static int remove_session(struct gc *gc, const char *name, const char *what,
			  bool if_empty, struct hb_error *err)
{
	struct layers_freed freed = { .n = 1 };
	int r;

	r = layers_remove_tree(gc->store->sessions, name, true, &freed, err);
	if (r >= 0 && !gc->options->dry_run)
		r = gc_remove_session(gc->store, name, if_empty, err);
	/* A process has begun to use it. */
	if (r == -HB_E_BUSY)
		return 0;
	if (r < 0)
		return r;
	return tell(gc, name, what, &freed, false, err);
}

static int collect_one(struct gc *gc, const char *name, struct hb_error *err)
{
	struct hb_session *session = NULL;
	bool is_empty = false;
	int r;

	if (gc_is_stale_check(gc->store, name, NULL))
		return remove_session(gc, name, "a check that was cut short",
				      false, err);
	if (gc_has_crashed(gc->store, name, &is_empty)) {
		if (is_empty)
			return remove_session(
				gc, name,
				"a session that crashed with nothing pending",
				true, err);
		/* To open it would settle it. */
		if (gc->options->dry_run)
			return 0;
	}
	/* In use, broken or unreadable: not ours to judge. */
	r = hb_session_open(gc->store, name,
			    gc->options->dry_run ? HB_OPEN_LOOK
						 : HB_OPEN_CHANGE,
			    &session, NULL);
	if (r < 0)
		return 0;
	r = session->has_lock && session->record.state == SESSION_IDLE
		    ? collect_session(gc, session, err)
		    : 0;
	hb_session_free(session);
	return r;
}

int gc_remove_session(struct hb_store *store, const char *name, bool if_empty,
		      struct hb_error *err)
{
	struct hb_session *session = NULL;
	int r;

	r = hb_session_open(store, name, HB_OPEN_GIVE_UP, &session, err);
	/* It was judged under another lock. */
	if (r >= 0 && if_empty && !holds_nothing(session))
		r = hb_fail(err, -HB_E_BUSY, "session '%s' is in use", name);
	/* A login may be in its private home alone. */
	if (r >= 0 && if_empty)
		r = publish_settle(session, 0, err);
	if (r >= 0)
		r = session_clean(session, err);
	hb_session_free(session);
	return r;
}

int hb_store_gc(struct hb_store *store, const struct hb_gc_options *options,
		hb_garbage_fn fn, void *ctx, uint64_t *ret_bytes,
		struct hb_error *err)
{
	struct gc gc = { .store = store,
			 .options = options,
			 .cutoff = sys_now().tv_sec - options->older_than,
			 .fn = fn,
			 .ctx = ctx };
	struct layers_freed layers = { 0 };
	char **names = NULL;
	size_t n = 0;
	int r = 0;

	if (store->sessions >= 0)
		r = store_each_name(store->sessions, collect_rest, &gc, err);
	if (r >= 0)
		r = store_names(store, &names, &n, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = collect_one(&gc, names[i], err);
	store_free_names(names, n);
	if (r >= 0 && !options->dry_run)
		projects_collect(store);
	if (r >= 0)
		r = layers_collect_all(store, options->dry_run, &layers, err);
	if (r >= 0)
		r = tell(&gc, NULL, "layers that no session needs", &layers,
			 false, err);
	if (r < 0)
		return r;
	*ret_bytes = gc.bytes;
	return 0;
}
