/* SPDX-License-Identifier: Apache-2.0 */
#include "session/on_disk.h"

#include "base/auto.h"
#include "base/error.h"
#include "store/berth.h"
#include "store/layout.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <fcntl.h>
#include <sys/stat.h>

/*
 * Object by object: syncing the whole file system would wait for the writes of
 * others.  The whole is synced where an object cannot be opened for this.
 */

/* Of type tree_fn, for a walk that is TREE_FLAT. */
static int sync_entry(void *ctx, const struct tree_visit *visit,
		      struct hb_error *err)
{
	auto_fd int fd = -1;

	(void)ctx;
	(void)err;
	if (visit->when != TREE_ENTER ||
	    (!S_ISREG(visit->attr.mode) && !S_ISDIR(visit->attr.mode)))
		return 0;
	fd = sys_openat(visit->dir, visit->name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	return fd < 0 ? fd : sys_fsync(fd);
}

/* A directory and, if that is asked, what lies directly in it. */
static int sync_dir(int dir, bool with_objects)
{
	int r = 0;

	if (with_objects)
		r = tree_walk(dir, ".", TREE_FLAT, sync_entry, NULL, NULL);
	if (r >= 0)
		r = sys_fsync(dir);
	return r < 0 ? sys_syncfs(dir) : r;
}

static bool is_same_file_system(int a, int b, bool *ret_is_same_object)
{
	struct sys_attr x, y;

	if (sys_attr_at(a, "", &x) < 0 || sys_attr_at(b, "", &y) < 0)
		return false;
	*ret_is_same_object = x.dev == y.dev && x.ino == y.ino;
	return x.dev == y.dev;
}

/* A directory and all above it on its file system. */
static int sync_upwards(int dir)
{
	auto_fd int at = sys_dup_above(dir, 3);
	bool is_root = false;
	int r = at < 0 ? at : 0;

	while (r >= 0) {
		auto_fd int above = -1;

		r = sys_fsync(at);
		if (r < 0)
			break;
		above = sys_openat(at, "..", O_RDONLY | O_DIRECTORY, 0);
		if (above < 0)
			return sys_syncfs(at);
		if (!is_same_file_system(at, above, &is_root) || is_root)
			break;
		fd_closep(&at);
		at = take_fd(&above);
	}
	return r;
}

/* Also the note of where it is, if that is not in the session's directory. */
static int sync_resource(const struct session_record *record, size_t number,
			 int session, bool with_objects, struct hb_error *err)
{
	const struct record_resource *resource = &record->resources[number];
	char name[LAYOUT_RESOURCE_SIZE];
	auto_fd int base = -1;
	auto_fd int place = -1;
	auto_fd int dir = -1;
	int r;

	layout_resource_dir(number, name);
	dir = store_open_own(session, name, err);
	if (dir < 0)
		return dir;
	r = sync_dir(dir, with_objects);
	if (r < 0 || !berth_is_used(resource))
		return r;
	base = resource_open(resource, err);
	place = base < 0 ? base
			 : berth_open(record, number, session, base, err);
	if (place < 0)
		return place;
	r = sync_dir(place, with_objects);
	return r < 0 ? r : sync_upwards(place);
}

int on_disk_session(const struct hb_store *store,
		    const struct session_record *record, int session,
		    bool with_objects, struct hb_error *err)
{
	bool has_berth = false;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < record->n_resources; i++) {
		has_berth |= berth_is_used(&record->resources[i]);
		r = sync_resource(record, i, session, with_objects, err);
	}
	if (r >= 0)
		r = sync_dir(session, with_objects);
	if (r >= 0 && has_berth)
		r = berth_sync_known(store);
	return r < 0 ? hb_fail(err, r, "cannot sync the session") : 0;
}

int on_disk_name(const struct hb_store *store, bool is_first,
		 struct hb_error *err)
{
	int r = is_first ? sync_upwards(store->sessions)
			 : sys_fsync(store->sessions);

	return r < 0 ? hb_fail(err, r, "cannot sync the session") : 0;
}
