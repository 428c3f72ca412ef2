/* SPDX-License-Identifier: Apache-2.0 */
#include "session/database/unit.h"

#include "base/auto.h"
#include "base/error.h"
#include "changes/database.h"
#include "changes/resource.h"
#include "session/database/database_box.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/content.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * SQLite's locks.  A writer that keeps a rollback journal changes the file only
 * with all of the shared bytes.  A file with a write-ahead log is changed by
 * whoever has the lock for that in X-shm.  Readers share all of these.
 */
#define PENDING_BYTE	0x40000000U
#define SHARED_BYTES	0x40000002U
#define SHARED_LENGTH	510
#define CHECKPOINT_BYTE 121 /* of X-shm */

#define WAIT_MS	 5000
#define PAUSE_MS 20
#define TRIES	 5

#define UNIT   "x"
#define CLEAN  "clean"
#define FOLDER ".d"

static int lock_bytes(int fd, uint64_t start, uint64_t length)
{
	int r = -EAGAIN;

	for (int left = WAIT_MS / PAUSE_MS; left > 0; left--) {
		r = sys_read_lock_range(fd, start, length);
		if (r != -EAGAIN && r != -EACCES)
			break;
		sys_pause(PAUSE_MS);
	}
	return r == -EAGAIN || r == -EACCES ? -HB_E_BUSY : r;
}

/* With the locks as long as the two are open. */
static int open_locked(int base, const char *main, bool is_locked, int *ret_shm,
		       uint64_t *ret_size)
{
	auto_free char *shm = NULL;
	auto_fd int fd = access_open_regular(base, main, ret_size);
	uint64_t size;
	int r = fd < 0 ? fd : 0;

	if (r == 0 && !is_locked)
		r = lock_bytes(fd, PENDING_BYTE, 1);
	if (r == 0 && !is_locked)
		r = lock_bytes(fd, SHARED_BYTES, SHARED_LENGTH);
	if (r < 0)
		return r;
	if (asprintf(&shm, "%s%s", main, database_endings[DATABASE_INDEX]) <
	    0) {
		shm = NULL;
		return -ENOMEM;
	}
	*ret_shm = access_open_regular(base, shm, &size);
	if (*ret_shm >= 0)
		r = lock_bytes(*ret_shm, CHECKPOINT_BYTE, 1);
	return r < 0 ? r : take_fd(&fd);
}

static int copy_to(int from, uint64_t size, int dir, int part)
{
	char name[16];
	auto_fd int to = -1;

	(void)snprintf(name, sizeof(name), UNIT "%s", database_endings[part]);
	to = sys_openat(dir, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW,
			0600);
	return to < 0 ? to : carry_bytes(from, to, size);
}

static int copy_side(int base, const char *main, int part, int dir)
{
	auto_free char *name = NULL;
	auto_fd int fd = -1;
	uint64_t size = 0;

	if (asprintf(&name, "%s%s", main, database_endings[part]) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	fd = access_open_regular(base, name, &size);
	if (fd == -ENOENT || (fd >= 0 && size == 0))
		return 0;
	return fd < 0 ? fd : copy_to(fd, size, dir, part);
}

/* 1: the file was written to meanwhile. */
static int copy_base(int base, const char *main, bool is_locked, int dir)
{
	struct database_state before, after;
	auto_fd int shm = -1;
	uint64_t size = 0;
	auto_fd int fd = open_locked(base, main, is_locked, &shm, &size);
	int r;

	if (fd < 0)
		return fd;
	database_read_state(base, main, &before);
	r = copy_to(fd, size, dir, DATABASE_MAIN);
	for (int part = DATABASE_WAL; r == 0 && part < DATABASE_INDEX; part++)
		r = copy_side(base, main, part, dir);
	database_read_state(base, main, &after);
	/* What is added to a log meanwhile is whole or not there. */
	for (int part = DATABASE_WAL; part < DATABASE_INDEX; part++)
		after.files[part] = before.files[part];
	return r < 0 ? r : !database_is_state(&before, &after);
}

/* A directory of its own for the box, and the one file that it leaves there. */
static int make_folder(int dir, const char *name, char folder[NAME_MAX],
		       struct hb_error *err)
{
	int fd, r;

	(void)snprintf(folder, NAME_MAX, "%s" FOLDER, name);
	r = tree_remove(dir, folder, NULL);
	if (r >= 0 || r == -ENOENT)
		r = sys_mkdirat(dir, folder, 0700);
	fd = r < 0 ? r : sys_open_dir(dir, folder, false);
	return fd < 0 ? hb_fail(err, fd, "cannot make room for a database")
		      : fd;
}

static int end_folder(int in, int dir, const char *folder, const char *made,
		      const char *name, int r, struct hb_error *err)
{
	if (r == 0) {
		r = sys_renameat(in, made, dir, name);
		if (r < 0)
			(void)hb_fail(err, r, "the box left no database");
	}
	(void)tree_remove(dir, folder, NULL);
	return r;
}

int database_picture(int base, const char *main, bool is_locked, int dir,
		     const char *name, struct hb_error *err)
{
	char folder[NAME_MAX];
	auto_fd int in = make_folder(dir, name, folder, err);
	int r = 1;

	if (in < 0)
		return in;
	for (int i = 0; r == 1 && i < TRIES; i++)
		r = copy_base(base, main, is_locked, in);
	if (r == 1)
		r = -HB_E_BUSY;
	if (r < 0)
		r = hb_fail(err, r, "cannot copy the database");
	if (r == 0)
		r = database_box_run("settle", in, NULL, 0, err);
	return end_folder(in, dir, folder, UNIT, name, r, err);
}

/* Of the topmost layer that has it; -ENOENT: no layer has it, or it is hidden.
 */
static int copy_layer(const struct resource *resource, const char *path,
		      int part, int dir, struct hb_error *err)
{
	auto_free char *name = NULL;
	struct entry e = { 0 };

	if (asprintf(&name, "%s%s", path, database_endings[part]) < 0) {
		name = NULL;
		return hb_fail(err, -ENOMEM, "cannot copy the database");
	}
	for (size_t i = 0; i < resource->n_layers; i++) {
		const char *slash = strrchr(name, '/');
		auto_fd int at = content_find_dir(
			resource->layers[i], name,
			slash ? (size_t)(slash - name) : 0, NULL);
		auto_fd int fd = -1;
		int r;

		if (at < 0 ||
		    entry_read_layer(at, slash ? slash + 1 : name, &e, NULL) <
			    0 ||
		    (e.type == ENTRY_NONE && !e.is_whiteout))
			continue;
		if (e.type != ENTRY_FILE)
			return -ENOENT;
		fd = access_open_file(at, slash ? slash + 1 : name, &e, true,
				      err);
		if (fd < 0)
			return fd;
		r = copy_to(fd, e.size, dir, part);
		return r < 0 ? hb_fail(err, r, "cannot copy the database") : 0;
	}
	return -ENOENT;
}

int database_clean(const struct resource *resource, const char *path, int dir,
		   const char *name, struct hb_error *err)
{
	char folder[NAME_MAX];
	auto_fd int in = make_folder(dir, name, folder, err);
	int r = 0;

	if (in < 0)
		return in;
	for (int part = DATABASE_MAIN; r == 0 && part < DATABASE_INDEX;
	     part++) {
		r = copy_layer(resource, path, part, in, err);
		if (r == -ENOENT && part != DATABASE_MAIN)
			r = 0;
		else if (r == -ENOENT)
			r = hb_fail(err, -HB_E_STATE,
				    "the session has no database there");
	}
	if (r == 0)
		r = database_box_run("clean", in, NULL, 0, err);
	return end_folder(in, dir, folder, CLEAN, name, r, err);
}
