/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "session/remove/cleanup.h"
#include "session/remove/gc.h"
#include "store/family.h"
#include "store/live.h"
#include "store/projects.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/durable.h"
#include "tree/overlay.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stale {
	struct hb_store *store;
	bool dry_run;
	uint64_t n;
};

static int remove_rest(void *ctx, const char *name, struct hb_error *err)
{
	auto_record struct session_record record = { 0 };
	struct stale *stale = ctx;
	auto_fd int dir = -1;
	auto_fd int lock = -1;
	bool has_record;

	if (strncmp(name, STORE_NEW, sizeof(STORE_NEW) - 1) != 0 &&
	    strncmp(name, STORE_GONE, sizeof(STORE_GONE) - 1) != 0)
		return 0;
	dir = store_open_own(stale->store->sessions, name, NULL);
	if (dir < 0)
		return 0;
	lock = sys_lock_file(dir, "lock", O_CREAT, 0);
	if (lock < 0 || !store_leads_to(stale->store, name, dir))
		return 0;
	stale->n++;
	if (stale->dry_run)
		return 0;
	live_remove(dir);
	has_record = record_read(dir, &record, NULL) >= 0;
	return session_remove_gone(stale->store, name,
				   has_record ? &record : NULL, err);
}

static bool is_orphan(const struct hb_store *store, const char *name)
{
	auto_record struct session_record record = { 0 };
	auto_fd int dir = store_open_session(store, name, NULL);

	if (dir < 0 || record_read(dir, &record, NULL) < 0)
		return false;
	for (size_t i = 0; i < record.n_resources; i++) {
		auto_fd int base = resource_open(&record.resources[i], NULL);

		if (base != -HB_E_STATE)
			return false;
	}
	return true;
}

/* A session that a user has made has a name that the user knows. */
static bool is_passing(const struct hb_store *store, const char *name)
{
	auto_record struct session_record record = { 0 };
	auto_fd int dir = store_open_session(store, name, NULL);

	return dir >= 0 && record_read(dir, &record, NULL) >= 0 &&
	       record.is_passing;
}

void hb_store_sweep(struct hb_store *store)
{
	char **names = NULL;
	size_t n = 0;

	if (store_names(store, &names, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		bool is_empty = false;

		if (gc_has_crashed(store, names[i], &is_empty) && is_empty &&
		    is_passing(store, names[i]) &&
		    gc_remove_session(store, names[i], true, NULL) >= 0)
			store_say(store,
				  "session '%s': its command was ended from "
				  "outside, and changed nothing: the session "
				  "is removed",
				  names[i]);
	}
	store_free_names(names, n);
}

static int remove_stale(struct stale *stale, const char *name, hb_list_fn fn,
			void *ctx, struct hb_error *err)
{
	struct hb_session_info info = { .name = name,
					.state = HB_STATE_ORPHAN };
	bool is_empty = false;
	int r;

	if (!stale->dry_run)
		live_tidy(stale->store, name);
	if (gc_is_stale_check(stale->store, name, NULL)) {
		info.state = HB_STATE_CHECK;
	} else if (!is_orphan(stale->store, name)) {
		if (!gc_has_crashed(stale->store, name, &is_empty) || !is_empty)
			return 0;
		info.state = HB_STATE_CRASHED;
	}
	stale->n++;
	r = fn(ctx, &info, err);
	if (r < 0 || stale->dry_run)
		return r;
	r = gc_remove_session(stale->store, name, is_empty, err);
	/* A process has begun to use it. */
	return r == -HB_E_BUSY ? 0 : r;
}

int hb_store_clean_stale(struct hb_store *store, bool dry_run, hb_list_fn fn,
			 void *ctx, uint64_t *ret_n, struct hb_error *err)
{
	struct stale stale = { .store = store, .dry_run = dry_run };
	struct layers_freed layers = { 0 };
	char **names = NULL;
	size_t n = 0;
	int r = 0;

	if (store->sessions >= 0)
		r = store_each_name(store->sessions, remove_rest, &stale, err);
	if (r >= 0)
		r = store_names(store, &names, &n, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = remove_stale(&stale, names[i], fn, ctx, err);
	store_free_names(names, n);
	if (r >= 0 && !dry_run)
		projects_collect(store);
	if (r >= 0)
		r = layers_collect_all(store, dry_run, &layers, err);
	if (r < 0)
		return r;
	*ret_n = stale.n + layers.n;
	return 0;
}
