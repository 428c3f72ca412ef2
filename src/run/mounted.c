/* SPDX-License-Identifier: Apache-2.0 */
#include "run/mounted.h"

#include "audit/audit.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/quote.h"
#include "box/box.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "run/beside/turn_marks.h"
#include "session/alike_notes.h"
#include "session/database/placed.h"
#include "session/git/indexes.h"
#include "session/gone.h"
#include "session/layers.h"
#include "session/live/sync_note.h"
#include "session/open.h"
#include "session/remove/cleanup.h"
#include "session/remove/void.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "session/settle.h"
#include "session/state.h"
#include "session/strategy/shown.h"
#include "store/berth.h"
#include "store/live.h"
#include "store/resource.h"
#include "store/store.h"
#include "strategy/moved.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A box over the session's layers.
 *
 * Order of events, each before the next: resources verified, fresh work
 * directories, state active, copies for the sake of groups, box.  Then in this
 * order: box gone, untouched copies gone, state idle and unsynced, work
 * directories put away, synced.  A process that finds the state active without
 * the lock being held knows that this was interrupted.
 */

#define WORK "work"

/* Less than this is nothing. */
#define FULL_BYTES ((uint64_t)64 << 10)

/* Of type berth_fn: the view covers it. */
static int hide(void *ctx, const char *path, struct hb_error *err)
{
	struct mounted *m = ctx;

	for (size_t i = 0; i < m->n_hidden; i++)
		if (strcmp(m->hidden[i], path) == 0)
			return 0;
	if (grow(m->hidden, m->n_hidden) < 0)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	return plan_keep_text(m->plan, path, &m->hidden[m->n_hidden++], err);
}

/* The next one, of the resource `i`. */
static int fill_layers(struct mounted *m, size_t i, struct hb_error *err)
{
	size_t at = m->n_places;
	const struct record_resource *resource =
		&m->session->record.resources[i];
	struct view_resource *to = &m->resources[at];
	const struct strategy *strategy = NULL;
	const char *tree = NULL;
	char path[PATH_MAX];
	int r;

	if (at >= m->n_resources)
		return hb_fail(err, -HB_E_STATE,
			       "'%s' was not there a moment ago",
			       resource->source);
	m->n_places++;
	m->places[at].source = resource->source;
	m->places[at].inside = resource->inside;
	r = session_layer_paths(m->session, i, &m->layers[at], &to->n_layers,
				err);
	if (r < 0)
		return r;
	to->layers = (const char *const *)m->layers[at];
	r = shown_strategy(resource, &strategy, err);
	if (r >= 0)
		tree = strategy->show(resource);
	if (r >= 0 && tree)
		r = session_store_path(m->session, i, tree, path, sizeof(path),
				       err);
	if (r >= 0 && tree)
		r = plan_keep_text(m->plan, path, &to->tree, err);
	if (r >= 0)
		r = session_store_path(m->session, i, "upper", path,
				       sizeof(path), err);
	if (r >= 0)
		r = plan_keep_text(m->plan, path, &to->upper, err);
	if (r >= 0)
		r = session_store_path(m->session, i, WORK, path, sizeof(path),
				       err);
	if (r >= 0)
		r = plan_keep_text(m->plan, path, &to->work, err);
	if (r >= 0)
		r = session_store_path(m->session, i, MOVED_RECORD, path,
				       sizeof(path), err);
	if (r >= 0)
		r = plan_keep_text(m->plan, path, &to->record, err);
	if (r < 0 || !berth_is_used(resource))
		return r;
	r = berth_path_itself(&m->session->record, i, path, sizeof(path), err);
	return r < 0 ? r : hide(m, path, err);
}

/* The same thing at its place inside. */
static int add_held(void *ctx, size_t number, const char *path,
		    struct hb_error *err)
{
	struct mounted *m = ctx;
	const struct record_resource *resource =
		&m->session->record.resources[number];
	char source[PATH_MAX], inside[PATH_MAX];
	struct view_held *held;
	int r;

	if (grow(m->held, m->n_held) < 0)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	held = &m->held[m->n_held];
	r = path_join(resource->source, path, source, sizeof(source));
	if (r >= 0)
		r = path_join(resource->inside, path, inside, sizeof(inside));
	if (r < 0)
		return hb_fail(err, r, "cannot show '%s'", path);
	r = plan_keep_text(m->plan, source, &held->source, err);
	if (r >= 0)
		r = plan_keep_text(m->plan, inside, &held->inside, err);
	if (r >= 0)
		m->n_held++;
	return r;
}

static int hide_store(void *ctx, const char *name, struct hb_error *err)
{
	const struct resource *resource = ctx;

	return berth_is_name(name)
		       ? berth_hide(resource->upper, resource->base, name, err)
		       : 0;
}

/*
 * Stores at the top of a resource are not part of it, also a store that is made
 * while the box is there.  Those of the version before had names of their own.
 * They were there when the resource and the state directory had different
 * mounts.  Only then all names are looked at, because a start must not take
 * longer where there are more.
 */
static int hide_stores(struct hb_session *s, struct hb_error *err)
{
	int r;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		const struct strategy *strategy = NULL;

		r = shown_strategy(&s->record.resources[i], &strategy, err);
		if (r < 0)
			return r;
		/* A tree of ours does not have them. */
		if (strategy->show(&s->record.resources[i]) ||
		    s->resources[i].is_gone)
			continue;
		r = hide_store(&s->resources[i], BERTH, err);
		if (r >= 0 && berth_is_used(&s->record.resources[i]))
			r = store_each_name(s->resources[i].base, hide_store,
					    &s->resources[i], err);
		if (r < 0)
			return hb_fail(err, r, "'%s'",
				       s->record.resources[i].source);
	}
	return 0;
}

static int make_work(struct hb_session *s, struct hb_error *err)
{
	int r;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		r = sys_mkdirat(s->resources[i].dir, WORK, 0700);
		if (r < 0)
			return hb_fail(err, r, "cannot make a work directory");
	}
	return 0;
}

/* One in which an overlay was mounted that need not sync is of no more use. */
int mounted_renew(void *mounted, struct hb_error *err)
{
	struct hb_session *s = ((struct mounted *)mounted)->session;
	int r = session_open_resources(s, err);

	/* A session that was made for this run has none of them yet. */
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = resource_make_dirs(s->resources[i].dir, err);
	if (r >= 0)
		r = session_drop_work(s, err);
	return r < 0 ? r : make_work(s, err);
}

/* No process in a box is to knock at another, nor at its own. */
static int hide_runtime(struct mounted *m, struct hb_error *err)
{
	char path[PATH_MAX];

	m->runtime = live_runtime(m->session->store, path);
	if (m->runtime < 0)
		return 0;
	return hide(m, path, err);
}

int mounted_prepare(struct mounted *m, struct hb_error *err)
{
	struct hb_session *s = m->session;
	size_t n = s->record.n_resources;
	int r;

	r = session_needs_lock(s, err);
	if (r >= 0)
		r = session_open_resources(s, err);
	if (r >= 0)
		r = session_drop_alike_before_box(s, err);
	if (r >= 0)
		r = session_place_databases(s, err);
	if (r < 0)
		return r;
	m->layers = calloc(n, sizeof(*m->layers));
	m->places = calloc(n, sizeof(*m->places));
	if (!m->layers || !m->places)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	r = hide_runtime(m, err);
	if (r >= 0)
		r = berth_each(s->store->path, hide, m, err);
	if (r >= 0)
		r = shown_before_box(s, add_held, m, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		if (!s->resources[i].is_gone)
			r = fill_layers(m, i, err);
	if (r >= 0)
		gone_say_hidden(s);
	return r;
}

void mounted_done(struct mounted *m)
{
	for (size_t i = 0; m->layers && i < m->session->record.n_resources; i++)
		free(m->layers[i]);
	free(m->layers);
	free(m->places);
	free(m->hidden);
	free(m->held);
	fd_closep(&m->door);
	fd_closep(&m->turns);
	fd_closep(&m->runtime);
}

/*
 * A command that finds the disk full says so in its own way, or not at all:
 * what it wrote last may be cut short.
 */
static bool tell_full(struct hb_session *s)
{
	bool is_full = false;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		const char *source = s->record.resources[i].source;
		struct sys_space space;

		if (!s->has_resources ||
		    sys_space(s->resources[i].upper, &space) < 0 ||
		    space.free_bytes >= FULL_BYTES)
			continue;
		is_full = true;
		store_say(s->store,
			  "session '%s' is kept, but the disk is full: %llu "
			  "bytes are left where changes to '%s' are kept; make "
			  "room, then: holdback -s %s COMMAND",
			  s->record.name, (unsigned long long)space.free_bytes,
			  quoted(source), s->record.name);
	}
	return is_full;
}

/*
 * The door by which others get into the box.  A box without a door is as good
 * for its own command.
 */
static int open_door(struct mounted *m, struct hb_error *why)
{
	struct hb_session *s = m->session;

	if (m->is_closed)
		return -1;
	if (s->door >= 0)
		return take_fd(&s->door);
	/* A box without namespaces is none that could be entered. */
	if (m->plan->settings & PLAN_BARE)
		return -1;
	return live_open(&(struct live_place){ .dir = s->dir,
					       .record = &s->record,
					       .is_fresh = s->is_fresh },
			 m->runtime, why);
}

/*
 * The box shows the directories as they are, so the time of T0 may pass before
 * git's files of that time are kept.  A command must not have run.
 */
static void keep_git(struct hb_session *s)
{
	for (size_t i = 0; s->owes_git && i < s->record.n_resources; i++)
		if (s->has_resources && !s->resources[i].is_gone)
			indexes_keep_first(&s->resources[i]);
	s->owes_git = false;
}

/*
 * A session without a change is gone by the time that the kernel needs for the
 * mounts of its box.  One with changes waits for that.
 */
static void end_early(void *mounted)
{
	struct mounted *m = mounted;

	m->is_empty = session_seems_void(m->session);
	if (m->is_empty)
		mounted_end(m, true);
}

/* What this run tells from here on is in the log, and nowhere else. */
static void be_keeper(void *mounted)
{
	struct mounted *m = mounted;
	struct audit *audit = m->session->store->audit;

	if (audit)
		audit_take_over(audit);
	/* The other one ends with the supervisor that leaves. */
	sync_child_part(&m->syncer);
	sync_child_begin(&m->syncer, m->session, m->sync);
}

/* While the box is built. */
static void meanwhile(void *mounted)
{
	struct mounted *m = mounted;

	if (m->session->owes_git)
		keep_git(m->session);
	sync_child_begin(&m->syncer, m->session, m->sync);
}

int mounted_begin(struct mounted *m, struct hb_error *err)
{
	struct hb_session *s = m->session;
	struct hb_error why = { 0 };
	int r;

	r = session_drop_work(s, err);
	if (r >= 0)
		r = hide_stores(s, err);
	if (r >= 0)
		r = make_work(s, err);
	if (r < 0)
		return r;
	if (!s->is_fresh)
		sync_note_remove(s);
	m->door = open_door(m, &why);
	if (m->plan->argv)
		record_note_command(&s->record, m->plan->argv);
	r = session_begin(s, err);
	if (r < 0) {
		live_remove(s->dir);
		return r;
	}
	/* From here on a crash is made up for. */
	m->has_begun = true;
	if (why.code != 0)
		store_say(s->store,
			  "no other command can join this session: %s: %s",
			  why.text, hb_strerror(why.code));
	r = shown_begin_box(s, err);
	if (r < 0)
		return r;
	if (!m->plan->argv && m->door < 0)
		return hb_fail(
			err, -HB_E_UNSUPPORTED,
			"cannot keep the session open: no control socket");
	m->plan->fds[PLAN_FD_DOOR] = m->door;
	m->plan->fds[PLAN_FD_LENT] = s->lock;
	/* Without a door no mark is made, and a client is to know at once. */
	if (m->door < 0)
		fd_closep(&m->turns);
	m->plan->fds[PLAN_FD_TURNS] = m->turns;
	m->plan->turn = turn_marks_make;
	m->plan->turn_context = m;
	m->plan->places = m->places;
	m->plan->n_places = m->n_places;
	m->plan->meanwhile = s->owes_git || m->sync > 0 ? meanwhile : NULL;
	m->plan->emptied = m->may_drop ? end_early : NULL;
	m->plan->handed = be_keeper;
	m->plan->emptied_context = m->plan->handed_context = m;
	m->plan->meanwhile_context = m;
	m->news = (struct news){ s->store->listener, s->record.name };
	m->listener =
		(struct hb_listener){ .hear = news_hear, .context = &m->news };
	return 0;
}

static void forget_box(struct plan *plan)
{
	plan->meanwhile = plan->emptied = plan->handed = NULL;
	plan->turn = NULL;
	plan->fds[PLAN_FD_DOOR] = plan->fds[PLAN_FD_LENT] = -1;
	plan->fds[PLAN_FD_TURNS] = -1;
}

void mounted_end(struct mounted *m, bool has_run)
{
	struct hb_session *s = m->session;
	struct hb_error err = { 0 };
	int r;

	if (!m->has_begun)
		return;
	m->has_begun = false;
	forget_box(m->plan);
	fd_closep(&m->door);
	sync_child_end(&m->syncer);
	r = m->was_lent ? session_take_back(s, &err) : 0;
	if (r >= 0)
		r = session_settle_box(s,
				       m->is_empty   ? SETTLE_EMPTY
				       : m->may_drop ? SETTLE_OR_DROP
						     : SETTLE_ENDED,
				       &err);
	live_remove(s->dir);
	if (r > 0) {
		m->is_dropped = true;
		r = session_drop(s, &err);
	}
	/* The command ran, and its status is what is asked for. */
	if (has_run && !m->is_dropped && tell_full(s))
		return;
	if (r < 0 && has_run)
		store_say(s->store, "session '%s': %s: %s", s->record.name,
			  err.text, hb_strerror(err.code));
}

void mounted_leave(struct mounted *m)
{
	m->has_begun = false;
	forget_box(m->plan);
	sync_child_end(&m->syncer);
}
