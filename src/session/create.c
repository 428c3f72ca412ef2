/* SPDX-License-Identifier: Apache-2.0 */
#include "session/create.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "session/git/indexes.h"
#include "session/on_disk.h"
#include "session/open.h"
#include "session/remove/cleanup.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "session/strategy/fallback.h"
#include "session/strategy/shown.h"
#include "store/berth.h"
#include "store/boot.h"
#include "store/layout.h"
#include "store/live.h"
#include "store/projects.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "tree/carry.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Making a session: everything in a directory of another name, which becomes
 * the session by one rename.  What is interrupted before that is no session,
 * and `cleanup --stale` finds it.  `create` and fork say that there is one,
 * and sync it before.  A run waits for no disk before its command: it syncs its
 * session when that has ended, before it says that there is one.
 */

/*
 * The top of the view has the attributes of the upper's.  The picture is made
 * from that, so that an attribute that could not be carried is no difference.
 */
static int copy_top(int base, int dir, struct hb_error *err)
{
	auto_fd int upper = -1;
	struct entry root;
	struct carry carry = {
		.from = base,
		.name = ".",
		.entry = &root,
		.flags = CARRY_TO_LAYER | CARRY_FROM_OTHERS | CARRY_OWN,
		.uid = (uid_t)-1,
		.gid = (gid_t)-1,
	};
	struct hb_error why = { 0 };
	int r;

	upper = sys_openat(dir, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
			   0);
	r = upper < 0 ? hb_fail(err, upper, "cannot make a layer")
		      : entry_read_fd(base, false, &root, err);
	if (r < 0)
		return r;
	carry.mode = root.mode;
	/* Only root's box knows an owner other than the one we have already. */
	if (sys_effective_uid() == 0) {
		carry.uid = root.uid;
		carry.gid = root.gid;
	}
	r = carry_attributes(&carry, upper, &why);
	/* Attributes that the store cannot have are not in the view. */
	if (r == -EOPNOTSUPP || r == -EPERM || r == -EINVAL) {
		r = sys_fchmod(upper, root.mode);
		if (r >= 0)
			r = sys_set_mtime_at(dir, "upper", root.mtime);
	}
	if (r < 0) {
		if (err)
			*err = why;
		return hb_fail(err, r, "cannot make a layer");
	}
	return layers_make_upper(dir, RESOURCE_TOP, upper, err);
}

/* What boxes are shown is there when the session is. */
static int make_shown(const struct hb_store *store, int dir,
		      const struct session_record *record, struct hb_error *err)
{
	struct hb_session s = { .store = store, .dir = dir, .lock = -1 };
	int r;

	s.record = *record;
	r = shown_before_box(&s, NULL, NULL, err);
	session_close_resources(&s);
	free(s.infos);
	return r;
}

/* Sooner than the commit that will be refused. */
static void say_no_place(const struct hb_store *store,
			 const struct record_resource *resource)
{
	store_say(store,
		  "nothing of '%s' can be committed: its top cannot be written "
		  "and it is on another file system than the session; fix: a "
		  "--state-dir on its file system",
		  quoted(resource->source));
}

void session_say_inside(const struct hb_store *store,
			const struct session_record *record)
{
	char path[PATH_MAX], shown[QUOTE_SHOWN];

	/* In a box all of this is a change that its own session holds. */
	if (store->envp && hb_is_inside(store->envp))
		return;
	for (size_t i = 0; i < record->n_resources; i++) {
		if (!berth_is_inside(&record->resources[i]) ||
		    berth_path_itself(record, i, path, sizeof(path), NULL) < 0)
			continue;
		store_say(store,
			  "pending changes are kept in '%s', which git and "
			  "commands do not see: the directory is on another "
			  "file system than the sessions",
			  quote_shown(path, shown, sizeof(shown)));
	}
}

/* Descriptors of a session that is being made; -1 before. */
struct made {
	int dir, lock, door;
	struct open_given given[RECORD_RESOURCES_MAX];
};

static void made_init(struct made *made)
{
	*made = (struct made){ -1, -1, -1, { { 0 } } };
	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++)
		made->given[i] = (struct open_given){ -1, -1 };
}

static void made_done(struct made *made)
{
	fd_closep(&made->dir);
	fd_closep(&made->lock);
	fd_closep(&made->door);
	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++) {
		fd_closep(&made->given[i].base);
		fd_closep(&made->given[i].dir);
	}
}

static int make_resource(const struct hb_store *store, struct made *made,
			 size_t number, const struct hb_create_options *asked,
			 struct session_record *record,
			 const struct session_origin *origin,
			 struct hb_error *err)
{
	struct record_resource *resource = &record->resources[number];
	struct resource of = RESOURCE_CLOSED;
	char name[LAYOUT_RESOURCE_SIZE];
	auto_fd int base = -1;
	auto_fd int dir = -1;
	auto_fd int place = -1;
	int r;

	base = resource_open(resource, err);
	if (base == -HB_E_STATE)
		hb_fix(err, "put it back, and try again");
	if (base < 0)
		return base;
	layout_resource_dir(number, name);
	r = sys_mkdirat(made->dir, name, 0700);
	if (r < 0)
		return hb_fail(err, r, "cannot make '%s'", name);
	dir = store_open_own(made->dir, name, err);
	if (dir < 0)
		return dir;
	place = resource_place(store, base, dir, number, record, err);
	if (place < 0)
		return place;
	if (!resource->same_mount)
		say_no_place(store, resource);
	r = resource_make_upper(place, err);
	if (r >= 0 && !record->is_passing)
		r = resource_make_dirs(place, err);
	if (r >= 0 && origin)
		return origin->fill(origin->ctx, number, place, resource, err);
	of.record = resource;
	of.number = number;
	of.base = base;
	of.dir = place;
	if (r >= 0)
		r = fallback_choose(store, record->boot, asked, &of, resource,
				    err);
	if (r >= 0)
		r = copy_top(base, place, err);
	if (r < 0)
		return r;
	/* A run waits for this: there it is done beside the box. */
	if (!record->is_passing)
		indexes_keep_first(&of);
	made->given[number].base = take_fd(&base);
	made->given[number].dir = take_fd(&place);
	return 0;
}

/*
 * The lock tells `cleanup --stale` that a process is at it.  The record, still
 * in the state created, tells which resources to look at when that process is
 * gone.  A run waits for this, so a session of its own makes do with the notes
 * of places.
 */
static int begin(int dir, struct session_record *record, int *ret_lock,
		 struct hb_error *err)
{
	auto_fd int lock = sys_lock_file(dir, "lock", O_CREAT, 0);
	int r;

	if (lock < 0)
		return hb_fail(err, lock, "cannot lock the new session");
	r = boot_id(record->boot, err);
	if (r >= 0 && !record->is_passing)
		r = record_write(dir, record, false, err);
	if (r < 0)
		return r;
	*ret_lock = take_fd(&lock);
	return 0;
}

/*
 * A run goes on at once.  The notes that it would write then are written now,
 * and the door is there before the name.  So a process that finds the session
 * live can join it.  A door that cannot be had is tried again, and told, when
 * the box begins.
 */
static void begin_run(const struct hb_store *store, int dir,
		      struct session_record *record, int *ret_door)
{
	struct hb_session s = {
		.store = store, .dir = dir, .lock = -1, .is_fresh = true
	};
	auto_fd int runtime = -1;
	char path[PATH_MAX];

	s.record = *record;
	if (session_needs_more(&s))
		return;
	runtime = live_runtime(store, path);
	*ret_door = live_open(&(struct live_place){ .dir = s.dir,
						    .record = &s.record,
						    .is_fresh = s.is_fresh },
			      runtime, NULL);
	record->state = SESSION_ACTIVE;
	record->pid = sys_getpid();
}

static int fill(const struct hb_store *store, const char *making,
		const struct hb_create_options *asked,
		struct session_record *record,
		const struct session_origin *origin, struct made *made,
		struct hb_error *err)
{
	struct sys_attr attr;
	int r;

	made->dir = store_open_own(store->sessions, making, err);
	if (made->dir < 0)
		return made->dir;
	r = sys_attr_at(made->dir, "", &attr);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", making);
	record->dir_ino = attr.ino;
	record->used = sys_now();
	record->created = record->used.tv_sec;
	r = begin(made->dir, record, &made->lock, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < record->n_resources; i++) {
		r = make_resource(store, made, i, asked, record, origin, err);
		if (r < 0)
			return hb_fail(err, r, "cannot hold back '%s'",
				       record->resources[i].source);
	}
	if (asked && !asked->is_quiet)
		session_say_inside(store, record);
	/* A fork is as fast as it can be: there the first box does it. */
	r = origin ? 0 : make_shown(store, made->dir, record, err);
	if (r < 0)
		return r;
	/* created -> idle; no session is `created` under its name. */
	record->state = SESSION_IDLE;
	record->pid = 0;
	if (record->is_passing)
		begin_run(store, made->dir, record, &made->door);
	r = record->is_passing ? record_create(made->dir, record, err)
			       : record_write(made->dir, record, false, err);
	if (r >= 0 && record->n_layers > 0)
		record_keep_room(made->dir, record);
	return r;
}

static int exists(const char *name, struct hb_error *err)
{
	hb_fix(err, "another name, or holdback cleanup @%s", name);
	return hb_fail(err, -HB_E_STATE, "there is a session '%s' already",
		       name);
}

/*
 * A name that may not last is taken back, so that a failure leaves nothing.
 */
static int publish(const struct hb_store *store, const char *making,
		   const struct session_record *record, bool is_lasting,
		   struct hb_error *err)
{
	int r;

	r = sys_renameat2(store->sessions, making, store->sessions,
			  record->name, RENAME_KEEP);
	if (r == -EEXIST)
		return exists(record->name, err);
	if (r < 0)
		return hb_fail(err, r, "cannot make session '%s'",
			       record->name);
	r = is_lasting ? on_disk_name(store, true, err) : 0;
	if (r < 0)
		(void)sys_renameat2(store->sessions, record->name,
				    store->sessions, making, RENAME_KEEP);
	return r;
}

/* A copy of a tree is too much to be synced one by one. */
static int sync_copies(const struct session_record *record, int dir,
		       struct hb_error *err)
{
	int r = 0;

	if (!shown_has_trees(record))
		return 0;
	for (size_t i = 0; r >= 0 && i < record->n_resources; i++) {
		auto_fd int base = resource_open(&record->resources[i], err);
		auto_fd int place =
			base < 0 ? base : berth_open(record, i, dir, base, err);

		r = place < 0 ? place : sys_syncfs(place);
	}
	return r < 0 ? hb_fail(err, r, "cannot sync the new session") : 0;
}

int session_check_new(const struct hb_store *store, const char *name,
		      struct hb_error *err)
{
	int r = record_check_name("session", name, err);

	if (r < 0)
		return r;
	if (sys_faccessat(store->sessions, name, F_OK) >= 0)
		return exists(name, err);
	return 0;
}

int session_make(const struct hb_store *store, struct session_record *record,
		 const struct session_origin *origin,
		 const struct hb_create_options *asked,
		 struct hb_session **ret_session, struct hb_error *err)
{
	char making[sizeof(STORE_NEW) + RECORD_ID_SIZE];
	__attribute__((cleanup(made_done))) struct made made;
	int r;

	made_init(&made);
	r = layout_new_id(record->id, err);
	if (r < 0)
		return r;
	shown_name_strategies(record);
	(void)snprintf(making, sizeof(making), STORE_NEW "%s", record->id);
	r = sys_mkdirat(store->sessions, making, 0700);
	if (r < 0)
		return hb_fail(err, r, "cannot make session '%s'",
			       record->name);
	r = fill(store, making, asked, record, origin, &made, err);
	if (r >= 0 && !ret_session)
		r = on_disk_session(store, record, made.dir, true, err);
	if (r >= 0 && !ret_session && !origin)
		r = sync_copies(record, made.dir, err);
	if (r >= 0)
		r = projects_add(store, record, err);
	if (r >= 0)
		r = publish(store, making, record, !ret_session, err);
	if (r < 0) {
		projects_remove(store, record);
		if (made.door >= 0)
			live_remove(made.dir);
		session_remove_berths(store, record);
		session_remove_noted(store, making);
		(void)tree_remove(store->sessions, making, NULL);
		return r;
	}
	if (!ret_session)
		return 0;
	r = session_adopt(store, record, &made.dir, &made.lock, ret_session,
			  err);
	if (r < 0)
		return r;
	(*ret_session)->is_fresh = true;
	(*ret_session)->owes_git = (*ret_session)->record.is_passing;
	(*ret_session)->door = take_fd(&made.door);
	/* Where that fails it is opened, and told, when it is needed. */
	if (!origin)
		(void)session_open_given(*ret_session, made.given, NULL);
	return 0;
}
