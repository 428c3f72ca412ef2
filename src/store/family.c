/* SPDX-License-Identifier: Apache-2.0 */
#include "store/family.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Families: which layers there are, and which of them a session needs.
 *
 * There are no counters.  A record that names a layer is the reference, and a
 * remover reads all records first, under the family's lock.  So a crash can
 * leave a layer that no record names, and never a name without a layer.
 */

#define LOCK_WAIT 10000 /* ms */

/* A family that is removed and founded again, and again. */
#define FAMILY_TRIES 10

static int make_dirs(const struct hb_store *store, const char *family,
		     struct hb_error *err)
{
	auto_fd int layers = -1;
	int r;

	r = sys_mkdirat(store->dir, LAYERS_DIR, 0700);
	if (r >= 0)
		r = sys_fsync(store->dir);
	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot make '%s'", LAYERS_DIR);
	layers = store_open_own(store->dir, LAYERS_DIR, err);
	if (layers < 0)
		return layers;
	r = sys_mkdirat(layers, family, 0700);
	if (r == -EEXIST)
		return 0;
	if (r >= 0)
		r = sys_fsync(layers);
	return r < 0 ? hb_fail(err, r, "cannot make '%s'", family) : 0;
}

/* The lock, or -EAGAIN if the family was removed while we waited for it. */
static int lock_once(const struct hb_store *store, const char *family,
		     bool make, struct hb_error *err)
{
	char path[sizeof(LAYERS_DIR) + RECORD_ID_SIZE + 1];
	auto_fd int dir = -1;
	auto_fd int lock = -1;
	int r = 0;

	if (make)
		r = make_dirs(store, family, err);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), LAYERS_DIR "/%s", family);
	dir = store_open_own(store->dir, path, err);
	if (dir < 0)
		return dir;
	lock = sys_lock_file(dir, "lock", O_CREAT, LOCK_WAIT);
	if (lock == -EWOULDBLOCK) {
		hb_fix(err, "try again when it has ended");
		return hb_fail(err, -HB_E_BUSY,
			       "another command works on the same layers");
	}
	if (lock < 0)
		return hb_fail(err, lock, "cannot lock the layers");
	if (sys_faccessat(dir, "lock", F_OK) == -ENOENT)
		return -EAGAIN;
	return take_fd(&lock);
}

int family_lock(const struct hb_store *store, const char *family, bool make,
		struct hb_error *err)
{
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < FAMILY_TRIES; i++)
		r = lock_once(store, family, make, err);
	return r == -EAGAIN ? hb_fail(err, r, "cannot lock the layers") : r;
}

struct ids {
	char (*list)[RECORD_ID_SIZE];
	size_t n;
};

static int keep_id(struct ids *ids, const char *id, struct hb_error *err)
{
	if (grow(ids->list, ids->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot list layers");
	memcpy(ids->list[ids->n++], id, RECORD_ID_SIZE);
	return 0;
}

static bool has_id(const struct ids *ids, const char *id)
{
	for (size_t i = 0; i < ids->n; i++)
		if (strcmp(ids->list[i], id) == 0)
			return true;
	return false;
}

static int keep_name(void *ctx, const char *name, struct hb_error *err)
{
	return record_is_id(name) ? keep_id(ctx, name, err) : 0;
}

struct needs {
	const struct hb_store *store;
	const char *family;
	struct ids ids;
	bool has_members;
	const char *unreadable; /* a session that cannot be asked */
	char name[RECORD_NAME_MAX + 1];
};

/* A session that is being removed needs nothing any more. */
static int ask_session(void *ctx, const char *name, struct hb_error *err)
{
	auto_record struct session_record record = { 0 };
	struct needs *needs = ctx;
	auto_fd int dir = -1;
	int r;

	if (strncmp(name, STORE_GONE, sizeof(STORE_GONE) - 1) == 0)
		return 0;
	dir = store_open_own(needs->store->sessions, name, NULL);
	if (dir == -ENOENT)
		return 0;
	r = dir < 0 ? dir : record_read(dir, &record, NULL);
	if (r == -ENOENT && name[0] == '.')
		return 0;
	if (r < 0) {
		(void)snprintf(needs->name, sizeof(needs->name), "%s", name);
		needs->unreadable = needs->name;
		return 0;
	}
	if (strcmp(record.family, needs->family) != 0)
		return 0;
	needs->has_members = true;
	for (size_t i = 0; i < record.n_layers; i++) {
		r = keep_id(&needs->ids, record.layers[i].id, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_bytes(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	struct layers_freed *freed = ctx;

	(void)err;
	if (visit->when == TREE_ENTER && S_ISREG(visit->attr.mode) &&
	    visit->attr.nlink == 1)
		freed->bytes += visit->attr.size;
	return 0;
}

int layers_remove_tree(int dir, const char *name, bool dry_run,
		       struct layers_freed *freed, struct hb_error *err)
{
	struct sys_attr attr;

	if (sys_attr_at(dir, name, &attr) < 0)
		return 0;
	(void)tree_walk(dir, name, TREE_OURS, add_bytes, freed, NULL);
	return dry_run ? 0 : tree_remove(dir, name, err);
}

struct family {
	const struct hb_store *store;
	const char *id;
	int dir;
	bool dry_run;
	struct layers_freed *freed;
};

static int collect(struct family *f, struct hb_error *err)
{
	struct needs needs = { .store = f->store, .family = f->id };
	struct ids there = { 0 };
	int r;

	r = store_each_name(f->dir, keep_name, &there, err);
	if (r >= 0 && f->store->sessions >= 0)
		r = store_each_name(f->store->sessions, ask_session, &needs,
				    err);
	if (r >= 0 && needs.unreadable) {
		store_say(f->store,
			  "session '%s' cannot be read, so no layers are "
			  "removed",
			  needs.unreadable);
		goto out;
	}
	for (size_t i = 0; r >= 0 && i < there.n; i++) {
		if (has_id(&needs.ids, there.list[i]))
			continue;
		f->freed->n++;
		r = layers_remove_tree(f->dir, there.list[i], f->dry_run,
				       f->freed, err);
	}
	if (r < 0 || needs.has_members || f->dry_run)
		goto out;
	if (r >= 0) {
		auto_fd int layers =
			store_open_own(f->store->dir, LAYERS_DIR, err);

		r = layers < 0 ? layers : tree_remove(layers, f->id, err);
	}
out:
	free(there.list);
	free(needs.ids.list);
	return r < 0 ? r : 0;
}

int layers_collect(const struct hb_store *store, const char *family,
		   bool dry_run, struct layers_freed *freed,
		   struct hb_error *err)
{
	char path[sizeof(LAYERS_DIR) + RECORD_ID_SIZE + 1];
	struct family f = { .store = store,
			    .id = family,
			    .dir = -1,
			    .dry_run = dry_run,
			    .freed = freed };
	auto_fd int lock = -1;
	int r;

	if (store->dir < 0 || !record_is_id(family))
		return 0;
	(void)snprintf(path, sizeof(path), LAYERS_DIR "/%s", family);
	f.dir = store_open_own(store->dir, path, NULL);
	if (f.dir == -ENOENT)
		return 0;
	if (f.dir < 0)
		return hb_fail(err, f.dir, "cannot open '%s'", path);
	lock = family_lock(store, family, false, err);
	r = lock < 0 ? lock : collect(&f, err);
	fd_closep(&f.dir);
	return r;
}

int layers_collect_all(const struct hb_store *store, bool dry_run,
		       struct layers_freed *freed, struct hb_error *err)
{
	struct ids families = { 0 };
	auto_fd int layers = -1;
	int r;

	if (store->dir < 0)
		return 0;
	layers = store_open_own(store->dir, LAYERS_DIR, NULL);
	if (layers == -ENOENT)
		return 0;
	r = layers < 0 ? hb_fail(err, layers, "cannot open '%s'", LAYERS_DIR)
		       : store_each_name(layers, keep_name, &families, err);
	for (size_t i = 0; r >= 0 && i < families.n; i++)
		r = layers_collect(store, families.list[i], dry_run, freed,
				   err);
	free(families.list);
	return r;
}
