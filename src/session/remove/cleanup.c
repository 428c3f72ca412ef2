/* SPDX-License-Identifier: Apache-2.0 */
#include "session/remove/cleanup.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/report.h"
#include "session/open.h"
#include "session/publish/carry_settle.h"
#include "session/session.h"
#include "session/state.h"
#include "session/told.h"
#include "store/berth.h"
#include "store/family.h"
#include "store/layout.h"
#include "store/pictures.h"
#include "store/progress.h"
#include "store/projects.h"
#include "store/resolve.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Removing a session: it gets another name first, by one rename, and is gone
 * from then on.  What is interrupted after that is finished by
 * `cleanup --stale`.
 */

void session_remove_berths(const struct hb_store *store,
			   const struct session_record *record)
{
	for (size_t i = 0; i < record->n_resources; i++) {
		auto_fd int base = resource_open(&record->resources[i], NULL);

		berth_remove(store, record, i, base);
	}
}

/* Without a record: by what the store and the other place say of each other. */
void session_remove_noted(const struct hb_store *store, const char *gone)
{
	auto_fd int session = store_open_own(store->sessions, gone, NULL);

	for (size_t i = 0; session >= 0 && i < RECORD_RESOURCES_MAX; i++) {
		char name[LAYOUT_RESOURCE_SIZE];
		auto_fd int dir = -1;

		layout_resource_dir(i, name);
		dir = store_open_own(session, name, NULL);
		if (dir == -ENOENT)
			return;
		if (dir >= 0)
			berth_remove_noted(store, dir, i);
	}
}

int session_remove_gone(const struct hb_store *store, const char *gone,
			const struct session_record *record,
			struct hb_error *err)
{
	auto_progress struct progress progress = PROGRESS_NONE;
	int r;

	progress_begin(&progress, store, "removing the session");
	if (record) {
		projects_remove(store, record);
		session_remove_berths(store, record);
	}
	/* A half-made record does not say where. */
	if (!record || record->state == SESSION_CREATED)
		session_remove_noted(store, gone);
	r = tree_remove(store->sessions, gone, err);
	if (r < 0) {
		hb_fix(err, "holdback cleanup --stale");
		return hb_fail(err, r, "cannot remove all of the session");
	}
	pictures_sweep(store);
	return 0;
}

/*
 * A work directory as the kernel leaves it after a mount in which nothing was
 * written.  Its directories lie one in the other, closed to everybody, and the
 * last one has a file.  Anything else keeps its directory.
 */
static void remove_known_work(int dir)
{
	static const char *const names[] = { "work", "work", "incompat",
					     "volatile" };
	enum {
		N = sizeof(names) / sizeof(names[0])
	};
	int at[N + 1] = { [0] = dir };
	size_t n = 0;

	while (n < N) {
		at[n + 1] = sys_openat(at[n], names[n],
				       O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (at[n + 1] < 0)
			break;
		n++;
		if (n > 1)
			(void)sys_chmod_fd(at[n], 0700);
	}
	if (n == N)
		(void)sys_unlinkat(at[n], "dirty", 0);
	for (; n > 0; n--) {
		(void)sys_unlinkat(at[n - 1], names[n - 1], AT_REMOVEDIR);
		fd_closep(&at[n]);
	}
}

/* Of type store_name_fn, of a directory of a resource: `ctx` is its fd. */
static int remove_known_name(void *ctx, const char *name, struct hb_error *err)
{
	static const char *const dirs[] = { "upper", "layers", "txn",
					    "undo",  "trash",  RESOURCE_TOP };
	int flags = 0;

	(void)err;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (strcmp(name, dirs[i]) == 0)
			flags = AT_REMOVEDIR;
	(void)sys_unlinkat(*(const int *)ctx, name, flags);
	return 0;
}

/*
 * What is known to be in a session that holds nothing: a run waits for this.
 * False: there is something else, which keeps its directory.
 */
static bool remove_known(const struct hb_session *s, const char *gone)
{
	auto_fd int session = store_open_own(s->store->sessions, gone, NULL);

	for (size_t i = 0; session >= 0 && i < s->record.n_resources; i++) {
		char name[LAYOUT_RESOURCE_SIZE];
		auto_fd int dir = -1;

		layout_resource_dir(i, name);
		dir = store_open_own(session, name, NULL);
		if (dir < 0)
			return false;
		remove_known_work(dir);
		(void)store_each_name(dir, remove_known_name, &dir, NULL);
		(void)sys_unlinkat(session, name, AT_REMOVEDIR);
	}
	if (session < 0)
		return false;
	(void)sys_unlinkat(session, "session", 0);
	(void)sys_unlinkat(session, "lock", 0);
	return sys_unlinkat(s->store->sessions, gone, AT_REMOVEDIR) >= 0;
}

static bool has_berths(const struct session_record *record)
{
	for (size_t i = 0; i < record->n_resources; i++)
		if (berth_is_used(&record->resources[i]))
			return true;
	return false;
}

int session_drop(struct hb_session *s, struct hb_error *err)
{
	char gone[sizeof(STORE_GONE) + RECORD_ID_SIZE];
	int r;

	session_close_resources(s);
	(void)snprintf(gone, sizeof(gone), STORE_GONE "%s", s->record.id);
	r = sys_renameat(s->store->sessions, s->record.name, s->store->sessions,
			 gone);
	if (r < 0)
		return hb_fail(err, r, "cannot remove session '%s'",
			       s->record.name);
	if (!has_berths(&s->record)) {
		projects_remove(s->store, &s->record);
		if (remove_known(s, gone)) {
			pictures_sweep(s->store);
			return 0;
		}
	}
	return session_remove_gone(s->store, gone, &s->record, err);
}

int hb_session_cleanup(struct hb_session *session, struct hb_error *err)
{
	struct hb_error local = { 0 };
	int r;

	err = err ? err : &local;
	told_begin(session, "cleanup");
	r = session_needs_lock(session, err);
	if (r >= 0)
		(void)carry_forget(session, NULL);
	if (r >= 0)
		r = session_clean(session, err);
	return told_end(session, "cleanup", r, 0, err);
}

int session_clean(struct hb_session *session, struct hb_error *err)
{
	char gone[sizeof(STORE_GONE) + RECORD_ID_SIZE];
	struct layers_freed freed = { 0 };
	int r;

	r = session_needs_lock(session, err);
	if (r < 0)
		return r;
	/* The new name says the same; a full disk is what this is to mend. */
	(void)session_retire(session, NULL);
	session_close_resources(session);
	(void)snprintf(gone, sizeof(gone), STORE_GONE "%s", session->record.id);
	r = sys_renameat(session->store->sessions, session->record.name,
			 session->store->sessions, gone);
	if (r < 0)
		return hb_fail(err, r, "cannot remove session '%s'",
			       session->record.name);
	r = session_remove_gone(session->store, gone, &session->record, err);
	if (r < 0)
		return r;
	/* The layers that no other session shares go with it. */
	return layers_collect(session->store, session->record.family, false,
			      &freed, err);
}

int hb_store_discard(struct hb_store *store, const char *ref,
		     struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1], gone[64];
	struct layers_freed freed = { 0 };
	auto_fd int dir = -1;
	auto_fd int lock = -1;
	uint64_t random;
	int r;

	r = store_resolve(store, ref, name, sizeof(name), err);
	if (r < 0)
		return r;
	dir = store_open_session(store, name, err);
	if (dir < 0)
		return dir;
	lock = sys_lock_file(dir, "lock", O_CREAT, 0);
	if (lock == -EWOULDBLOCK)
		return hb_fail(err, -HB_E_BUSY, "session '%s' is in use", name);
	if (lock < 0)
		return hb_fail(err, lock, "cannot lock session '%s'", name);
	r = sys_random(&random, sizeof(random));
	if (r < 0)
		return hb_fail(err, r, "cannot make an id");
	(void)snprintf(gone, sizeof(gone), STORE_GONE "%016llx",
		       (unsigned long long)random);
	r = sys_renameat(store->sessions, name, store->sessions, gone);
	if (r < 0)
		return hb_fail(err, r, "cannot remove session '%s'", name);
	(void)report_send(store->listener,
			  &(struct hb_report){ .kind = HB_REPORT_DONE,
					       .session = name,
					       .text = "cleanup" });
	r = session_remove_gone(store, gone, NULL, err);
	/* Which family it was of is not known any more. */
	return r < 0 ? r : layers_collect_all(store, false, &freed, err);
}
