/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include "audit/audit.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "host/look.h"
#include "session/freeze.h"
#include "session/git/own_record.h"
#include "session/gone.h"
#include "session/interruption.h"
#include "session/live/taken.h"
#include "session/live/unmark.h"
#include "session/open.h"
#include "session/publish/publish.h"
#include "session/settle.h"
#include "session/state.h"
#include "session/strategy/shown.h"
#include "session/told.h"
#include "store/live.h"
#include "store/projects.h"
#include "store/resolve.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Opening a session: resolve, lock, read, settle what a crash left.
 *
 * The lock belongs to an open file, which the box's init has a copy of.  So a
 * session whose supervisor was killed stays locked until its box is gone.  The
 * process that gets the lock knows that nothing is mounted.
 */

#define LOCK_FILE "lock"

/* A command that only looks or commits is waited for; a box is not. */
#define LOCK_TRIES 250
#define LOCK_PAUSE 20 /* ms */

static int check_identity(struct hb_session *s, const char *name,
			  struct hb_error *err)
{
	struct sys_attr attr;
	int r;

	r = sys_attr_at(s->dir, "", &attr);
	if (r < 0)
		return hb_fail(err, r, "cannot look at session '%s'", name);
	if (attr.ino == s->record.dir_ino && strcmp(name, s->record.name) == 0)
		return 0;
	hb_fix(err, "put the original back; a copy cannot be used");
	return hb_fail(err, -HB_E_STATE,
		       "the directory of session '%s' is a copy of the "
		       "original",
		       name);
}

/* Reads the record again: it may have changed before we had the lock. */
static int read_record(struct hb_session *s, const char *name,
		       struct hb_error *err)
{
	int r;

	record_done(&s->record);
	r = record_read(s->dir, &s->record, err);
	if (r == -HB_E_CORRUPT || r == -ENOENT) {
		hb_fix(err,
		       "restore the file 'session' in its directory, or "
		       "holdback cleanup -y @%s, which discards its changes",
		       name);
		if (err && err->code == ENOENT)
			err->code = HB_E_CORRUPT;
		r = -HB_E_CORRUPT;
	}
	if (r >= 0)
		r = record_adopt(&s->record, err);
	if (r < 0)
		return hb_fail(err, r, "session '%s'", name);
	shown_name_strategies(&s->record);
	return check_identity(s, name, err);
}

static bool is_looking(enum hb_open how)
{
	return how <= HB_OPEN_CHECK;
}

static int take_lock(struct hb_session *s, const char *name, enum hb_open how,
		     struct hb_error *err)
{
	int r;

	s->lock = sys_openat(s->dir, LOCK_FILE,
			     O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
	/* In a store that cannot be written: a lock takes no more than this. */
	if (s->lock < 0 && is_looking(how))
		s->lock = sys_openat(s->dir, LOCK_FILE,
				     O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (s->lock < 0)
		return hb_fail(err, s->lock, "cannot open the lock of '%s'",
			       name);
	if (how == HB_OPEN_GLANCE)
		return read_record(s, name, err);
	for (int i = 0;; i++) {
		r = sys_flock(s->lock);
		if (r != -EWOULDBLOCK)
			break;
		r = read_record(s, name, err);
		if (r < 0)
			return r;
		if (how == HB_OPEN_LOOK)
			return 0;
		if (s->record.state == SESSION_ACTIVE || i >= LOCK_TRIES)
			return is_looking(how) ? 0 : session_needs_lock(s, err);
		sys_pause(LOCK_PAUSE);
	}
	if (r < 0)
		return hb_fail(err, r, "cannot lock session '%s'", name);
	s->has_lock = true;
	/* No process has it live: what is left is of a killed process. */
	live_remove(s->dir);
	return read_record(s, name, err);
}

/* The directories of --rw, as the settings of the session have them. */
static int find_direct(struct hb_session *s, size_t *ret_n)
{
	static const char key[] = "rw=";
	const struct session_record *record = &s->record;
	size_t n = 0;

	free(s->directs);
	s->directs = calloc(record->n_policy + 1, sizeof(*s->directs));
	if (!s->directs)
		return -ENOMEM;
	for (size_t i = 0; i < record->n_policy; i++) {
		const char *words = record->policy[i];

		if (strncmp(words, key, sizeof(key) - 1) != 0)
			continue;
		/* An empty one empties the list. */
		if (words[sizeof(key) - 1] == '\0')
			n = 0;
		else
			shown_tell_direct(words + sizeof(key) - 1,
					  &s->directs[n++]);
	}
	*ret_n = n;
	return 0;
}

static int fill_info(struct hb_session *s, struct hb_error *err)
{
	const struct session_record *record = &s->record;
	size_t n = record->n_resources, n_direct = 0;
	bool is_damaged = false;

	if (!s->infos)
		s->infos = calloc(n, sizeof(*s->infos));
	if (!s->infos || find_direct(s, &n_direct) < 0)
		return hb_fail(err, -ENOMEM, "cannot open the session");
	for (size_t i = 0; i < n; i++) {
		shown_tell(&record->resources[i], &s->infos[i]);
	}
	s->info = (struct hb_session_info){
		/* A session that is being made has no directory yet. */
		.interrupted = s->has_lock && s->dir >= 0
				       ? session_interrupted(s, &is_damaged)
				       : NULL,
		.is_damaged = is_damaged,
		.name = record->name,
		.id = record->id,
		.state = session_shown_state(s),
		.created = record->created,
		.used = record->used.tv_sec,
		.used_nsec = record->used.tv_nsec,
		.command = record->command,
		.profile = record_profile(record),
		.is_durable = record->is_durable,
		.has_workspace = record->resources[0].role[0],
		.view = record_shows_host(record) ? "host" : "run",
		.is_unsynced = record->is_unsynced,
		.has_lost = record->has_lost,
		.undo_bytes = record->undo_bytes,
		.n_resources = n,
		.resources = s->infos,
		.knows_gone = s->info.knows_gone,
		.direct = s->directs,
		.n_direct = n_direct,
	};
	return 0;
}

bool session_needs_more(const struct hb_session *s)
{
	return s->record.state == SESSION_ACTIVE || s->record.is_unsynced ||
	       s->record.is_freezing || session_has_journal(s) ||
	       !shown_is_quick(&s->record) || own_branch_is_any(&s->record);
}

static int fail_broken(const struct hb_session *s, struct hb_error *err)
{
	hb_fix(err, "holdback recover @%s", s->record.name);
	return hb_fail(err, -HB_E_STATE, "session '%s' is broken",
		       s->record.name);
}

/*
 * A session that is to be removed need not be whole.  The layers are not
 * opened, and the changes of a command are not carried to them.  Only the base
 * is left in order.  The files that an agent was promised to have on the host
 * are given to it if they can be.
 */
static int settle_to_remove(struct hb_session *s, bool gives_up,
			    struct hb_error *err)
{
	enum txn_recovered what;

	(void)publish_settle(s, 0, NULL);
	if (gives_up)
		return 0;
	if (s->record.state == SESSION_BROKEN)
		return fail_broken(s, err);
	return session_settle_journal(s, session_goes_back(s), &what, err);
}

/* What the last box or mark has left to do. */
static int settle_once(struct hb_session *s, struct hb_error *err)
{
	int r = 0;

	if (s->record.state == SESSION_ACTIVE || s->record.is_unsynced)
		r = gone_put_off(s, err);
	if (r < 0)
		return r;
	if (s->record.state == SESSION_ACTIVE) {
		told_crash(s);
		r = session_settle_box(s, SETTLE_CRASHED, err);
	} else if (s->record.is_unsynced)
		r = session_settle_sync(s, err);
	return r < 0 ? r : session_finish_freeze(s, err);
}

static int settle_rest(struct hb_session *s, struct hb_error *err)
{
	int r = settle_once(s, err);

	if (r >= 0)
		r = gone_take_up(s, err);
	if (r <= 0)
		return r;
	/* Of the stand-in. */
	session_close_resources(s);
	return settle_once(s, err);
}

/* Where nothing can be written there is still something to be seen. */
static void settle_to_look(struct hb_session *s)
{
	struct hb_error why = { 0 };

	if (settle_rest(s, &why) < 0)
		store_say(s->store,
			  "session '%s': the changes of the last command are "
			  "not settled: %s: %s",
			  s->record.name, why.text, hb_strerror(why.code));
	session_close_resources(s);
}

/* With the lock: nothing is mounted, in any state of the record. */
static int settle(struct hb_session *s, enum hb_open how, struct hb_error *err)
{
	enum txn_recovered what;
	int r;

	if (!s->has_lock)
		return 0;
	/* The process that was at it is gone: the next removal goes on. */
	if (s->record.state == SESSION_GONE && how != HB_OPEN_REMOVE &&
	    how != HB_OPEN_GIVE_UP) {
		hb_fix(err, "holdback cleanup @%s", s->record.name);
		return hb_fail(err, -HB_E_NO_SESSION,
			       "session '%s' is being removed", s->record.name);
	}
	if (how == HB_OPEN_QUICK && (session_needs_more(s) || gone_waits(s)))
		return -EAGAIN;
	if (how == HB_OPEN_REMOVE || how == HB_OPEN_GIVE_UP)
		return settle_to_remove(s, how == HB_OPEN_GIVE_UP, err);
	if (is_looking(how)) {
		settle_to_look(s);
		return 0;
	}
	r = settle_rest(s, err);
	if (r < 0 || how == HB_OPEN_RECOVER)
		return r;
	if (s->record.state == SESSION_BROKEN)
		return fail_broken(s, err);
	r = session_settle_journal(
		s, how == HB_OPEN_BACK && session_goes_back(s), &what, err);
	if (r >= 0)
		r = unmark_settle(s, err);
	session_close_resources(s);
	return r;
}

/* Records from now on are about this session. */
static void log_about(const struct hb_session *s)
{
	audit_about(s->store->audit, s->record.name, s->record.id,
		    s->record.n_resources > 0 ? s->record.resources[0].source
					      : NULL);
}

static int open_session(struct hb_session *s, const char *name,
			enum hb_open how, struct hb_error *err)
{
	int r;

	s->is_look = is_looking(how);
	s->is_given_up = how == HB_OPEN_GIVE_UP;
	s->dir = store_open_session(s->store, name, err);
	if (s->dir < 0)
		return s->dir;
	r = take_lock(s, name, how, err);
	if (r >= 0)
		log_about(s);
	if (r >= 0)
		r = settle(s, how, err);
	if (r < 0)
		return r;
	/* What was settled without a directory may go on with it. */
	if (session_has_gone(s))
		session_close_resources(s);
	s->leaves_out = s->is_look;
	r = fill_info(s, err);
	/* What is in flight is not opened, and still may lack a directory. */
	if (r >= 0 && s->is_look && s->info.interrupted) {
		(void)session_open_resources(s, NULL);
		session_close_resources(s);
	}
	return r;
}

static int new_session(const struct hb_store *store, struct hb_session **ret,
		       struct hb_error *err)
{
	struct hb_session *s = calloc(1, sizeof(*s));

	if (!s)
		return hb_fail(err, -ENOMEM, "cannot open the session");
	s->store = store;
	s->dir = -1;
	s->lock = -1;
	s->door = -1;
	s->family_lock = -1;
	*ret = s;
	return 0;
}

int session_adopt(const struct hb_store *store, struct session_record *record,
		  int *dir, int *lock, struct hb_session **ret_session,
		  struct hb_error *err)
{
	struct hb_session *s = NULL;
	int r = new_session(store, &s, err);

	if (r < 0)
		return r;
	s->record = *record;
	s->has_lock = true;
	r = fill_info(s, err);
	if (r < 0) {
		s->record = (struct session_record){ 0 };
		hb_session_free(s);
		return r;
	}
	*record = (struct session_record){ 0 };
	log_about(s);
	s->dir = take_fd(dir);
	s->lock = take_fd(lock);
	*ret_session = s;
	return 0;
}

int session_open_unsettled(const struct hb_store *store, const char *name,
			   struct hb_session **ret_session,
			   struct hb_error *err)
{
	struct hb_session *s = NULL;
	int r = new_session(store, &s, err);

	if (r < 0)
		return r;
	s->is_look = true;
	r = s->dir = store_open_session(store, name, err);
	if (r >= 0)
		r = take_lock(s, name, HB_OPEN_LOOK, err);
	if (r < 0) {
		hb_session_free(s);
		return r;
	}
	*ret_session = s;
	return 0;
}

/* Whether it is the lock of this session, and held. */
static int check_lent(const struct hb_session *s, struct hb_error *err)
{
	struct sys_attr ours, lent;
	auto_fd int again = -1;
	int r;

	r = sys_attr_at(s->dir, LOCK_FILE, &ours);
	if (r >= 0)
		r = sys_attr_at(s->lock, "", &lent);
	if (r >= 0)
		r = again = sys_openat(s->dir, LOCK_FILE,
				       O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the lock");
	if (ours.ino != lent.ino || ours.dev != lent.dev ||
	    sys_flock(again) != -EWOULDBLOCK)
		return -EAGAIN;
	return 0;
}

int session_open_lent(const struct hb_store *store, const char *name, int lock,
		      struct hb_session **ret_session, struct hb_error *err)
{
	struct hb_session *s = NULL;
	int r;

	r = new_session(store, &s, err);
	if (r < 0) {
		sys_close(lock);
		return r;
	}
	s->lock = lock;
	r = s->dir = store_open_session(store, name, err);
	if (r >= 0)
		r = check_lent(s, err);
	if (r >= 0)
		r = read_record(s, name, err);
	if (r >= 0 && s->record.state != SESSION_ACTIVE)
		r = -EAGAIN;
	s->has_lock = r >= 0;
	if (r >= 0)
		log_about(s);
	if (r >= 0)
		r = fill_info(s, err);
	if (r < 0) {
		hb_session_free(s);
		return r;
	}
	*ret_session = s;
	return 0;
}

int session_take_back(struct hb_session *s, struct hb_error *err)
{
	auto_record struct session_record now = { 0 };
	struct record_layer *layers = s->record.layers;
	size_t n_layers = s->record.n_layers;
	int r;

	r = record_read(s->dir, &now, err);
	if (r >= 0 && now.n_resources != s->record.n_resources)
		r = hb_fail(err, -HB_E_CORRUPT,
			    "the session file has other resources");
	if (r < 0)
		return hb_fail(err, r, "session '%s'", s->record.name);
	memcpy(s->record.family, now.family, sizeof(s->record.family));
	s->record.layers = now.layers;
	s->record.n_layers = now.n_layers;
	now.layers = layers;
	now.n_layers = n_layers;
	s->record.undo_bytes = now.undo_bytes;
	for (size_t i = 0; i < now.n_resources; i++) {
		s->record.resources[i].t0 = now.resources[i].t0;
		s->record.resources[i].t0_before = now.resources[i].t0_before;
	}
	return 0;
}

int hb_session_open(struct hb_store *store, const char *ref, enum hb_open how,
		    struct hb_session **ret_session, struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1];
	struct hb_session *s = NULL;
	int r;

	r = store_resolve(store, ref, name, sizeof(name), err);
	if (r >= 0)
		r = new_session(store, &s, err);
	if (r < 0)
		return r;
	r = open_session(s, name, how, err);
	if (r < 0) {
		hb_session_free(s);
		return r;
	}
	*ret_session = s;
	return 0;
}

void session_drop_deliveries(struct hb_session *s)
{
	for (size_t i = 0; i < s->n_deliveries; i++) {
		/* They are ours; others may only read them. */
		free((void *)(uintptr_t)s->deliveries[i].path);
		free((void *)(uintptr_t)s->deliveries[i].branch);
		free((void *)(uintptr_t)s->deliveries[i].text);
		free((void *)(uintptr_t)s->deliveries[i].fix);
		free((void *)(uintptr_t)s->deliveries[i].head_branch);
		free((void *)(uintptr_t)s->deliveries[i].base);
		free((void *)(uintptr_t)s->deliveries[i].head);
	}
	free(s->deliveries);
	s->deliveries = NULL;
	s->n_deliveries = 0;
}

const struct hb_delivery *hb_session_deliveries(struct hb_session *session,
						size_t *ret_n)
{
	*ret_n = session->n_deliveries;
	return session->deliveries;
}

void hb_session_free(struct hb_session *session)
{
	if (!session)
		return;
	session_close_resources(session);
	session_drop_deliveries(session);
	taken_free(session);
	if (session->box)
		session->box->free(session->box);
	free(session->infos);
	free(session->directs);
	record_done(&session->record);
	fd_closep(&session->family_lock);
	fd_closep(&session->door);
	fd_closep(&session->lock);
	fd_closep(&session->dir);
	free(session);
}

bool hb_session_is_here(const struct hb_session_info *info)
{
	char cwd[PATH_MAX];

	if (sys_getcwd(cwd, sizeof(cwd)) < 0)
		return false;
	for (size_t i = 0; i < info->n_resources; i++)
		if (path_is_beneath(cwd, info->resources[i].source))
			return true;
	return false;
}

int hb_session_dir(const struct hb_session *session)
{
	return session->dir;
}

const struct hb_session_info *hb_session_info(const struct hb_session *session)
{
	return &session->info;
}

static int list_one(struct hb_store *store, const char *name, hb_list_fn fn,
		    void *ctx, struct hb_error *err)
{
	struct hb_session s = {
		.store = store, .dir = -1, .lock = -1, .family_lock = -1
	};
	struct hb_session_info unreadable = { .name = name,
					      .id = "",
					      .command = "",
					      .profile = "",
					      .state = HB_STATE_UNREADABLE };
	int r;

	s.dir = store_open_session(store, name, NULL);
	if (s.dir < 0)
		return s.dir == -HB_E_NO_SESSION ? 0
						 : fn(ctx, &unreadable, err);
	/* Without recovery: a list says what is, and changes nothing. */
	r = take_lock(&s, name, HB_OPEN_LOOK, NULL);
	if (r >= 0)
		r = fill_info(&s, err);
	/* The caller may open it, and other commands need not wait for that. */
	fd_closep(&s.lock);
	if (r >= 0) {
		r = fn(ctx, &s.info, err);
	} else {
		r = fn(ctx, &unreadable, err);
	}
	free(s.infos);
	free(s.directs);
	record_done(&s.record);
	fd_closep(&s.dir);
	return r;
}

int hb_store_list_here(struct hb_store *store, size_t max, hb_list_fn fn,
		       void *ctx, struct hb_error *err)
{
	char cwd[PATH_MAX], **names = NULL;
	size_t n = 0;
	int r = look_cwd(cwd, err);

	if (r >= 0)
		r = projects_find(store, cwd, max, &names, &n, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = list_one(store, names[i], fn, ctx, err);
	store_free_names(names, n);
	return r < 0 ? r : 0;
}

int hb_store_list(struct hb_store *store, hb_list_fn fn, void *ctx,
		  struct hb_error *err)
{
	char **names = NULL;
	size_t n = 0;
	int r;

	r = store_names(store, &names, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = list_one(store, names[i], fn, ctx, err);
	store_free_names(names, n);
	return r < 0 ? r : 0;
}
