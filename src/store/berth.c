/* SPDX-License-Identifier: Apache-2.0 */
#include "store/berth.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/sha256.h"
#include "changes/walk.h"
#include "store/layout.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Order of events: the note in the state directory, the berth, the resource's
 * directory in it, the note there.  So the note leads to anything that is cut
 * short.  A directory without a note of the same id in it is not ours to
 * remove.
 *
 * git: `git clean` passes over everything below a repository that is not the
 * user's own, and fails to list a directory that it may not read.  But `git
 * status` shows such a repository unless something ignores it, which has to be
 * a file above it.  Hence two levels.
 */

#define STORE  "store"
#define BERTHS "berths"
#define NOTE   "berth"

/* A berth that is removed as often as it is made: a process plays with us. */
#define TRIES 100

/* Directories above a resource that are looked at. */
#define ABOVE_MAX 64

#define NAME_SIZE (RECORD_ID_SIZE + LAYOUT_RESOURCE_SIZE)

static const struct {
	const char *path, *text; /* without text: a directory */
} furniture[] = {
	{ ".gitignore", "*\n" },
	{ STORE, NULL },
	{ STORE "/.git", NULL },
	{ STORE "/.git/objects", NULL },
	{ STORE "/.git/refs", NULL },
	{ STORE "/.git/HEAD", "ref: refs/heads/holdback\n" },
};

#define N_FURNITURE (sizeof(furniture) / sizeof(furniture[0]))

static bool has_berth(const struct record_resource *resource)
{
	return resource->berth && resource->berth[0] != '\0';
}

bool berth_is_name(const char *path)
{
	return walk_is_store(path, BERTH);
}

bool berth_is_used(const struct record_resource *resource)
{
	return resource->is_in_base || has_berth(resource);
}

bool berth_is_inside(const struct record_resource *resource)
{
	return resource->is_in_base ||
	       (has_berth(resource) &&
		strcmp(resource->berth, resource->source) == 0);
}

static void name_of(const char *id, size_t number, char ret[NAME_SIZE])
{
	char dir[LAYOUT_RESOURCE_SIZE];

	layout_resource_dir(number, dir);
	(void)snprintf(ret, NAME_SIZE, "%s-%s", id, dir);
}

static int open_dir(const char *path)
{
	return sys_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0,
			   K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS);
}

/* The directory that a resource's berth lies in. */
static int open_above(const struct record_resource *resource, int base)
{
	return base >= 0 && berth_is_inside(resource)
		       ? sys_dup_above(base, 3)
		       : open_dir(resource->berth);
}

/* `store` of the berth in `dir`. */
static int open_store(int dir, struct hb_error *err)
{
	auto_fd int berth = store_open_own(dir, BERTH, err);

	return berth < 0 ? berth : store_open_shut(berth, STORE, err);
}

int berth_open(const struct session_record *record, size_t number, int session,
	       int base, struct hb_error *err)
{
	const struct record_resource *resource = &record->resources[number];
	char name[LAYOUT_IN_BASE_SIZE + NAME_SIZE];
	auto_fd int above = -1;
	auto_fd int store = -1;

	if (resource->is_in_base) {
		(void)snprintf(name, sizeof(name), LAYOUT_IN_BASE "%s",
			       record->id);
		return store_open_own(base, name, err);
	}
	if (!has_berth(resource)) {
		layout_resource_dir(number, name);
		return store_open_own(session, name, err);
	}
	above = open_above(resource, base);
	if (above < 0)
		return hb_fail(err, above, "cannot open '%s'", resource->berth);
	store = open_store(above, err);
	if (store < 0)
		return store;
	name_of(record->id, number, name);
	return store_open_own(store, name, err);
}

int berth_path(const struct session_record *record, size_t number,
	       const char *state, const char *below, char *ret, size_t size,
	       struct hb_error *err)
{
	const struct record_resource *resource = &record->resources[number];
	char name[NAME_SIZE];
	int r;

	name_of(record->id, number, name);
	if (resource->is_in_base)
		r = snprintf(ret, size, "%s/" LAYOUT_IN_BASE "%s/%s",
			     resource->source, record->id, below);
	else if (has_berth(resource))
		r = snprintf(ret, size, "%s/" BERTH "/" STORE "/%s/%s",
			     resource->berth, name, below);
	else
		r = snprintf(ret, size, "%s/sessions/%s/%s/%s", state,
			     record->name, name + strlen(record->id) + 1,
			     below);
	if (r < 0 || (size_t)r >= size)
		return hb_fail(err, -ENAMETOOLONG,
			       "the path of the store is too long");
	return 0;
}

int berth_path_itself(const struct session_record *record, size_t number,
		      char *ret, size_t size, struct hb_error *err)
{
	const struct record_resource *resource = &record->resources[number];
	int r;

	if (resource->is_in_base)
		r = snprintf(ret, size, "%s/" LAYOUT_IN_BASE "%s",
			     resource->source, record->id);
	else
		r = snprintf(ret, size, "%s/" BERTH, resource->berth);
	if (r < 0 || (size_t)r >= size)
		return hb_fail(err, -ENAMETOOLONG,
			       "the path of the store is too long");
	return 0;
}

static bool is_furnished(int berth)
{
	char text[64];

	for (size_t i = 0; i < N_FURNITURE; i++) {
		const char *path = furniture[i].path;

		if (furniture[i].text
			    ? sys_read_file_at(berth, path, text,
					       sizeof(text)) < 0 ||
				      strcmp(text, furniture[i].text) != 0
			    : sys_faccessat(berth, path, F_OK) < 0)
			return false;
	}
	return true;
}

static int write_text(int dir, const char *path, const char *text)
{
	auto_fd int fd = sys_openat(
		dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);

	return fd < 0 ? fd : sys_write_all(fd, text, strlen(text));
}

static int chmod_store(int berth, mode_t mode)
{
	auto_fd int store = store_open_shut(berth, STORE, NULL);

	return store < 0 ? store : sys_chmod_fd(store, mode);
}

/* Twice is once, also at the same time: then one may shut what others fill. */
static int furnish(int berth, struct hb_error *err)
{
	int r = 0;

	for (int i = 0; i < TRIES && !is_furnished(berth); i++) {
		r = sys_chmod_fd(berth, 0700);
		for (size_t k = 0; r >= 0 && k < N_FURNITURE; k++) {
			r = furniture[k].text
				    ? write_text(berth, furniture[k].path,
						 furniture[k].text)
				    : sys_mkdirat(berth, furniture[k].path,
						  0700);
			if (r == -EEXIST)
				r = 0;
			if (r >= 0 && strcmp(furniture[k].path, STORE) == 0)
				r = chmod_store(berth, 0700);
		}
		if (r < 0 && r != -EACCES)
			break;
	}
	if (r >= 0)
		r = chmod_store(berth, 0300);
	if (r >= 0)
		r = sys_chmod_fd(berth, 0500);
	return r < 0 ? hb_fail(err, r, "cannot fill '" BERTH "'") : 0;
}

/* The berth in `dir`, locked so that it stays; `make`: also if there is none.
 */
static int enter(int dir, bool make, struct hb_error *err)
{
	int r = -EBUSY;

	for (int i = 0; i < TRIES; i++) {
		auto_fd int berth = -1;

		r = make ? sys_mkdirat(dir, BERTH, 0700) : 0;
		if (r < 0 && r != -EEXIST)
			break;
		if (sys_faccessat(dir, BERTH, F_OK) == -ENOENT) {
			if (make)
				continue;
			return -ENOENT;
		}
		berth = store_open_own(dir, BERTH, err);
		if (berth < 0)
			return berth;
		r = sys_flock_shared(berth);
		if (r < 0)
			break;
		if (!sys_is_object(dir, BERTH, berth))
			continue;
		r = make ? furnish(berth, err) : 0;
		return r < 0 ? r : take_fd(&berth);
	}
	return hb_fail(err, r, "cannot make '" BERTH "'");
}

static int find_tenant(void *ctx, const struct tree_visit *visit,
		       struct hb_error *err)
{
	(void)ctx;
	(void)err;
	return strcmp(visit->name, ".git") == 0 ? TREE_SKIP : -ENOTEMPTY;
}

/* Removes the berth in `dir` if no session is in it and no process holds it. */
static void leave(int dir)
{
	auto_fd int berth = store_open_own(dir, BERTH, NULL);

	if (berth < 0 || sys_flock(berth) < 0 ||
	    !sys_is_object(dir, BERTH, berth))
		return;
	(void)chmod_store(berth, 0700);
	if (sys_faccessat(berth, STORE, F_OK) >= 0 &&
	    tree_walk(berth, STORE, TREE_FLAT, find_tenant, NULL, NULL) < 0) {
		(void)chmod_store(berth, 0300);
		return;
	}
	(void)sys_chmod_fd(berth, 0700);
	for (size_t i = N_FURNITURE; i > 0; i--)
		(void)sys_unlinkat(berth, furniture[i - 1].path,
				   furniture[i - 1].text ? 0 : AT_REMOVEDIR);
	(void)sys_unlinkat(dir, BERTH, AT_REMOVEDIR);
}

/* The name of the link to the berth in the directory `path`. */
static void link_name(const char *path, char ret[SHA256_HEX_SIZE])
{
	uint8_t digest[SHA256_SIZE];

	sha256_of(path, strlen(path), digest);
	sha256_hex(digest, ret);
}

/* Before the berth is there: a link to nothing does no harm. */
static int make_known(const struct hb_store *store, const char *path,
		      struct hb_error *err)
{
	char name[SHA256_HEX_SIZE], target[PATH_MAX];
	auto_fd int dir = -1;
	int r = sys_mkdirat(store->dir, BERTHS, 0700);

	if (r >= 0 || r == -EEXIST) {
		dir = store_open_own(store->dir, BERTHS, err);
		if (dir < 0)
			return dir;
		link_name(path, name);
		r = path_join(path, BERTH, target, sizeof(target));
		if (r >= 0)
			r = sys_symlinkat(target, dir, name);
	}
	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot note where '%s' lies", path);
	return 0;
}

int berth_sync_known(const struct hb_store *store)
{
	auto_fd int dir = store_open_own(store->dir, BERTHS, NULL);

	return dir < 0 ? dir : sys_fsync(dir);
}

static void forget(const struct hb_store *store, int dir, const char *path)
{
	char name[sizeof(BERTHS) + SHA256_HEX_SIZE], hex[SHA256_HEX_SIZE];

	if (sys_faccessat(dir, BERTH, F_OK) != -ENOENT)
		return;
	link_name(path, hex);
	(void)snprintf(name, sizeof(name), BERTHS "/%s", hex);
	(void)sys_unlinkat(store->dir, name, 0);
}

/* The view's top has the upper's time, which is the command's to change. */
static void keep_time(int upper, const struct sys_attr *before, int r)
{
	if (r >= 0)
		(void)sys_set_mtime_at(upper, ".", before->mtime);
}

int berth_hide(int upper, int base, const char *name, struct hb_error *err)
{
	struct sys_attr before;
	int r = sys_attr_at(upper, "", &before);

	if (r >= 0) {
		r = sys_make_whiteout(upper, name);
		keep_time(upper, &before, r);
	}
	/* Where the top is closed there is none, and no command makes one. */
	if (r == -EACCES && sys_faccessat(base, name, F_OK) == -ENOENT)
		return 0;
	return r < 0 && r != -EEXIST ? hb_fail(err, r, "cannot hide '%s'", name)
				     : 0;
}

void berth_show(int upper)
{
	struct sys_attr attr, before;

	if (sys_attr_at(upper, BERTH, &attr) < 0 || !S_ISCHR(attr.mode) ||
	    sys_attr_at(upper, "", &before) < 0)
		return;
	keep_time(upper, &before, sys_unlinkat(upper, BERTH, 0));
}

int berth_each(const char *state, berth_fn fn, void *ctx, struct hb_error *err)
{
	char path[PATH_MAX], block[4096] __attribute__((aligned(8)));
	auto_fd int dir = -1;
	ssize_t n;
	int r = path_join(state, BERTHS, path, sizeof(path));

	dir = r < 0 ? r : sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		return 0;
	while ((n = sys_getdents(dir, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (strlen(e->name) != SHA256_HEX_SIZE - 1 ||
			    sys_readlinkat(dir, e->name, path, sizeof(path)) <
				    0 ||
			    sys_faccessat(AT_FDCWD, path, F_OK) < 0)
				continue;
			r = fn(ctx, path, err);
			if (r < 0)
				return r;
		}
	}
	return n < 0 ? hb_fail(err, (int)n, "cannot list '%s'", path) : 0;
}

/*
 * Whether the berth may lie in the directory: the user's, writable, and not for
 * everybody, who could take it away.
 */
static bool is_ours(int dir)
{
	struct sys_attr attr;

	return sys_attr_at(dir, "", &attr) == 0 && attr.uid == sys_geteuid() &&
	       !(attr.mode & 02) && sys_faccessat(dir, ".", W_OK) >= 0;
}

static bool is_on_mount(int dir, uint64_t mount)
{
	uint64_t other;

	return sys_mount_id(dir, &other) >= 0 && other == mount;
}

/* Whether what lies in the base can be moved there: by trying, if we can. */
static bool can_take(int dir, int base, int marker)
{
	static const char probe[] = LAYOUT_IN_BASE "probe";

	if (marker < 0)
		return true;
	if (sys_is_encrypted(base) != sys_is_encrypted(dir) ||
	    sys_name_file(marker, dir, probe) < 0)
		return false;
	(void)sys_unlinkat(dir, probe, 0);
	return true;
}

/*
 * The highest directory above `source` that can have its berth: opened, and its
 * path in `ret`; else -ENOENT.  "/" is no place for this.
 */
static int find_above(int base, const char *source, int marker,
		      char ret[PATH_MAX])
{
	size_t ends[ABOVE_MAX], n = 0;
	uint64_t mount;

	if (sys_mount_id(base, &mount) < 0)
		return -ENOENT;
	(void)snprintf(ret, PATH_MAX, "%s", source);
	for (char *slash; n < ABOVE_MAX && (slash = strrchr(ret, '/')) > ret;) {
		auto_fd int dir = -1;

		*slash = '\0';
		dir = open_dir(ret);
		if (dir >= 0 && !is_on_mount(dir, mount))
			break;
		if (dir >= 0 && is_ours(dir))
			ends[n++] = (size_t)(slash - ret);
	}
	for (; n > 0; n--) {
		auto_fd int dir = -1;

		(void)snprintf(ret, PATH_MAX, "%.*s", (int)ends[n - 1], source);
		dir = open_dir(ret);
		if (dir >= 0 && can_take(dir, base, marker))
			return take_fd(&dir);
	}
	return -ENOENT;
}

static int write_note(int dir, const char *name, const char *id,
		      const char *path)
{
	auto_fd int fd = sys_openat(
		dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	int r = fd;

	if (r >= 0)
		r = sys_write_all(fd, id, strlen(id));
	if (r >= 0)
		r = sys_write_all(fd, "\n", 1);
	if (r >= 0)
		r = sys_write_all(fd, path, strlen(path));
	return r;
}

int berth_make(const struct hb_store *store, int base, int dir, int marker,
	       size_t number, struct session_record *record,
	       struct hb_error *err)
{
	struct record_resource *resource = &record->resources[number];
	char path[PATH_MAX], name[NAME_SIZE];
	auto_fd int above = -1;
	auto_fd int berth = -1;
	auto_fd int room = -1;
	auto_fd int place = -1;
	int r;

	above = find_above(base, resource->source, marker, path);
	if (above < 0) {
		above = sys_dup_above(base, 3);
		(void)snprintf(path, sizeof(path), "%s", resource->source);
	}
	if (above < 0)
		return hb_fail(err, above, "cannot open '%s'", path);
	r = write_note(dir, NOTE, record->id, path);
	if (r < 0)
		return hb_fail(err, r, "cannot use the store for '%s'",
			       resource->source);
	r = make_known(store, path, err);
	if (r < 0)
		return r;
	free(resource->berth);
	resource->berth = strdup(path);
	if (!resource->berth)
		return hb_fail(err, -ENOMEM, "cannot keep a resource");
	resource->same_mount = true;
	berth = enter(above, true, err);
	room = berth < 0 ? berth : store_open_shut(berth, STORE, err);
	name_of(record->id, number, name);
	r = room < 0 ? room : sys_mkdirat(room, name, 0700);
	place = r < 0 ? r : store_open_own(room, name, err);
	r = place < 0 ? place
		      : write_note(place, RESOURCE_NOTE, record->id, "");
	if (r < 0)
		return hb_fail(err, r, "cannot make a store in '%s'", path);
	return take_fd(&place);
}

/* The id of a note, and what else it says; `size` bytes at most. */
static int read_note(int dir, const char *name, char id[RECORD_ID_SIZE],
		     char *rest, size_t size)
{
	char text[RECORD_ID_SIZE + PATH_MAX];
	ssize_t n = sys_read_file_at(dir, name, text, sizeof(text));

	if (n < 0)
		return (int)n;
	/* As many digits as it is to have, and no path in it. */
	if (strspn(text, "0123456789abcdef") != RECORD_ID_SIZE - 1 ||
	    text[RECORD_ID_SIZE - 1] != '\n' || strlen(text) != (size_t)n ||
	    strlen(text) - RECORD_ID_SIZE >= size)
		return -EBADMSG;
	memcpy(id, text, RECORD_ID_SIZE - 1);
	id[RECORD_ID_SIZE - 1] = '\0';
	(void)snprintf(rest, size, "%s", text + RECORD_ID_SIZE);
	return 0;
}

/* Removes `name` in `dir` if the note in it has this id. */
static void remove_own(int dir, const char *name, const char *id)
{
	char other[RECORD_ID_SIZE], none[2];
	auto_fd int place = store_open_own(dir, name, NULL);
	int r;

	if (place < 0)
		return;
	r = read_note(place, RESOURCE_NOTE, other, none, sizeof(none));
	if (r >= 0) {
		if (strcmp(id, other) == 0)
			(void)tree_remove(dir, name, NULL);
		return;
	}
	/* Interrupted before it was whole: then there is nothing else in it. */
	(void)sys_unlinkat(place, RESOURCE_NOTE, 0);
	(void)sys_unlinkat(dir, name, AT_REMOVEDIR);
}

/* Out of the berth in `above`, whose path that is. */
static void move_out(const struct hb_store *store, int above, const char *path,
		     const char *id, size_t number)
{
	auto_fd int room = open_store(above, NULL);
	char name[NAME_SIZE];

	name_of(id, number, name);
	if (room >= 0)
		remove_own(room, name, id);
	leave(above);
	forget(store, above, path);
}

void berth_remove(const struct hb_store *store,
		  const struct session_record *record, size_t number, int base)
{
	const struct record_resource *resource = &record->resources[number];
	char name[LAYOUT_IN_BASE_SIZE];
	auto_fd int above = -1;

	if (resource->is_in_base && base >= 0) {
		(void)snprintf(name, sizeof(name), LAYOUT_IN_BASE "%s",
			       record->id);
		(void)tree_remove(base, name, NULL);
	}
	if (!has_berth(resource))
		return;
	above = open_above(resource, base);
	if (above >= 0)
		move_out(store, above, resource->berth, record->id, number);
}

void berth_remove_noted(const struct hb_store *store, int dir, size_t number)
{
	char id[RECORD_ID_SIZE], path[PATH_MAX], name[LAYOUT_IN_BASE_SIZE];
	auto_fd int above = -1;
	bool is_before;

	is_before = read_note(dir, NOTE, id, path, sizeof(path)) < 0;
	if (is_before &&
	    read_note(dir, RESOURCE_NOTE, id, path, sizeof(path)) < 0)
		return;
	above = open_dir(path);
	if (above < 0)
		return;
	if (!is_before) {
		move_out(store, above, path, id, number);
		return;
	}
	(void)snprintf(name, sizeof(name), LAYOUT_IN_BASE "%s", id);
	remove_own(above, name, id);
}

/* Whether sessions of that state directory on `base` cannot lie in it. */
static bool is_elsewhere(const char *state, int base)
{
	char path[PATH_MAX];
	uint64_t here, there;
	auto_fd int dir = -1;
	char *slash;

	(void)snprintf(path, sizeof(path), "%s", state);
	while ((dir = sys_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0)) ==
		       -ENOENT &&
	       (slash = strrchr(path, '/')) > path)
		*slash = '\0';
	return dir >= 0 && sys_mount_id(dir, &there) >= 0 &&
	       sys_mount_id(base, &here) >= 0 && here != there;
}

int berth_hold(const char *state, const char *source, struct hb_error *err)
{
	char path[PATH_MAX];
	auto_fd int base = open_dir(source);
	auto_fd int above = -1;
	int r;

	if (base < 0)
		return -ENOENT;
	/* What else has this name is the user's. */
	if (sys_faccessat(base, BERTH "/" STORE, F_OK) != -ENOENT) {
		r = enter(base, false, err);
		if (r != -ENOENT)
			return r;
	}
	if (!is_elsewhere(state, base) || sys_faccessat(base, ".", W_OK) < 0)
		return -ENOENT;
	above = find_above(base, source, -1, path);
	return above >= 0 ? -ENOENT : enter(base, true, err);
}

void berth_release(const char *source, int *held)
{
	auto_fd int base = -1;

	if (*held < 0)
		return;
	fd_closep(held);
	base = open_dir(source);
	if (base >= 0)
		leave(base);
}
