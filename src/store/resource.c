/* SPDX-License-Identifier: Apache-2.0 */
#include "store/resource.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/time.h"
#include "store/berth.h"
#include "store/pictures.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A kernel with coarse times moves them on every tick: 10 ms at most. */
#define CLOCK_TRIES 100

/* What the box covers with something of its own. */
static const char *const covered[] = { "/run", "/tmp", "/var/tmp", "/dev/shm" };
static const char *const owned[] = { "/proc", "/dev", "/sys" };

static bool is_beneath_any(const char *path, const char *const *dirs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (path_is_beneath(path, dirs[i]))
			return true;
	return false;
}

static bool is_covered(const char *path)
{
	return is_beneath_any(path, covered,
			      sizeof(covered) / sizeof(covered[0]));
}

/* The kernel's file systems, but for what is memory for everybody. */
static bool is_owned(const char *path)
{
	return !is_covered(path) &&
	       is_beneath_any(path, owned, sizeof(owned) / sizeof(owned[0]));
}

/* DIR:INSIDE: the last colon that an absolute path follows divides. */
static int split(const char *word, char *dir, char *inside, size_t size,
		 struct hb_error *err)
{
	const char *colon = NULL;
	int r;

	for (const char *p = strstr(word, ":/"); p; p = strstr(p + 1, ":/"))
		colon = p;
	r = snprintf(dir, size, "%.*s",
		     colon ? (int)(colon - word) : (int)strlen(word), word);
	if (r < 0 || (size_t)r >= size)
		return hb_fail(err, -ENAMETOOLONG, "a path is too long");
	inside[0] = '\0';
	if (!colon)
		return 0;
	r = path_normalise(colon + 1, PATH_DOTS_REFUSE, inside, size);
	if (r < 0)
		return hb_fail(err, -HB_E_USAGE,
			       "the path inside '%s' is not a plain one",
			       colon + 1);
	return 0;
}

static int open_given(const char *path, char *real, size_t size,
		      struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
	if (fd == -ENOTDIR && sys_faccessat(AT_FDCWD, path, F_OK) == 0) {
		hb_fix(err, "name the directory it lies in");
		return hb_fail(err, -HB_E_USAGE, "'%s' is not a directory",
			       quoted(path));
	}
	if (fd == -ENOENT || fd == -ENOTDIR) {
		hb_fix(err, "make it first, or name an existing directory");
		return hb_fail(err, -HB_E_USAGE, "there is no '%s'",
			       quoted(path));
	}
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'", quoted(path));
	r = (int)sys_fd_path(fd, real, size);
	if (r == -ENOENT) {
		hb_fix(err, "change to a directory that exists");
		return hb_fail(err, -HB_E_USAGE, "the directory '%s' is gone",
			       quoted(path));
	}
	if (r < 0)
		return hb_fail(err, r, "cannot tell where '%s' lies",
			       quoted(path));
	return take_fd(&fd);
}

static int check_inside(const char *inside, struct hb_error *err)
{
	if (is_owned(inside))
		return hb_fail(err, -HB_E_USAGE, "'%s' is the box's own inside",
			       inside);
	return 0;
}

static int check_source(const struct hb_store *store, const char *source,
			struct hb_error *err)
{
	if (strcmp(source, "/") == 0) {
		hb_fix(err, "name the directory of the project");
		return hb_fail(err, -HB_E_USAGE,
			       "'/' as a whole cannot be a resource");
	}
	if (is_owned(source))
		return hb_fail(err, -HB_E_USAGE, "'%s' cannot be a resource",
			       quoted(source));
	if (path_is_beneath(source, store->path) &&
	    !pictures_hold(store, source))
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' is in the state directory itself",
			       quoted(source));
	return 0;
}

static int check_overlap(const struct session_record *record,
			 const char *source, const char *inside,
			 struct hb_error *err)
{
	for (size_t i = 0; i < record->n_resources; i++) {
		const struct record_resource *other = &record->resources[i];

		if (path_is_beneath(source, other->source) ||
		    path_is_beneath(other->source, source) ||
		    path_is_beneath(inside, other->inside) ||
		    path_is_beneath(other->inside, inside)) {
			hb_fix(err, "name only the outer one");
			return hb_fail(err, -HB_E_USAGE,
				       "'%s' and '%s' overlap", source,
				       other->source);
		}
	}
	return 0;
}

/* A checkout at the root of a mount is a checkout: that can do more. */
static enum resource_type find_type(int fd)
{
	if (sys_faccessat(fd, ".git", F_OK) >= 0)
		return RESOURCE_GIT_CHECKOUT;
	return sys_is_mount_root(fd) ? RESOURCE_FS_MOUNT
				     : RESOURCE_FS_DIRECTORY;
}

static int add_opened(const struct hb_store *store, int fd, const char *source,
		      const char *inside, struct session_record *record,
		      struct record_resource **ret, struct hb_error *err)
{
	struct sys_attr attr;
	int r;

	r = check_source(store, source, err);
	if (r >= 0)
		r = record_add_resource(record, source, inside, ret, err);
	if (r < 0)
		return r;
	r = sys_attr_at(fd, "", &attr);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", source);
	(*ret)->type = pictures_hold(store, source) ? RESOURCE_POSTGRES
						    : find_type(fd);
	(*ret)->ino = attr.ino;
	(*ret)->btime = attr.btime;
	return 0;
}

int resource_add(const struct hb_store *store, const char *source,
		 const char *inside, struct session_record *record,
		 struct record_resource **ret_resource, struct hb_error *err)
{
	int r = check_overlap(record, source, inside, err);

	return r < 0 ? r
		     : resource_add_apart(store, source, inside, record,
					  ret_resource, err);
}

int resource_add_apart(const struct hb_store *store, const char *source,
		       const char *inside, struct session_record *record,
		       struct record_resource **ret_resource,
		       struct hb_error *err)
{
	auto_fd int fd = -1;

	fd = sys_openat2(AT_FDCWD, source, O_RDONLY | O_DIRECTORY, 0,
			 K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS);
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'", quoted(source));
	return add_opened(store, fd, source, inside, record, ret_resource, err);
}

static int choose_one(const struct hb_store *store, const char *word,
		      struct session_record *record, struct hb_error *err)
{
	char dir[PATH_MAX], inside[PATH_MAX], source[PATH_MAX];
	struct record_resource *resource = NULL;
	auto_fd int fd = -1;
	int r;

	r = split(word, dir, inside, sizeof(dir), err);
	if (r < 0)
		return r;
	fd = open_given(dir, source, sizeof(source), err);
	if (fd < 0)
		return fd;
	r = check_source(store, source, err);
	if (r >= 0 && inside[0] != '\0')
		r = check_inside(inside, err);
	if (r >= 0)
		r = check_overlap(record, source, inside[0] ? inside : source,
				  err);
	if (r < 0)
		return r;
	return add_opened(store, fd, source, inside[0] ? inside : source,
			  record, &resource, err);
}

int resource_choose(const struct hb_store *store, const char *const *cow,
		    size_t n_cow, struct session_record *record,
		    struct hb_error *err)
{
	int r;

	if (n_cow == 0) {
		hb_fix(err, "--cow DIR");
		return hb_fail(err, -HB_E_USAGE,
			       "a session needs a directory to hold back");
	}
	for (size_t i = 0; i < n_cow; i++) {
		r = choose_one(store, cow[i], record, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int resource_open(const struct record_resource *resource, struct hb_error *err)
{
	auto_fd int fd = -1;
	struct sys_attr attr;
	int r;

	fd = sys_openat2(AT_FDCWD, resource->source, O_RDONLY | O_DIRECTORY, 0,
			 K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS);
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
		return hb_fail(err, -HB_E_STATE, "the directory '%s' is gone",
			       quoted(resource->source));
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'",
			       quoted(resource->source));
	r = sys_attr_at(fd, "", &attr);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'",
			       quoted(resource->source));
	if (attr.ino != resource->ino ||
	    !time_is_same(attr.btime, resource->btime))
		return hb_fail(err, -HB_E_STATE,
			       "'%s' is not the directory that the session "
			       "was made for",
			       quoted(resource->source));
	return take_fd(&fd);
}

int resource_clock(int marker, struct timespec *ret_now, struct hb_error *err)
{
	int r = sys_pass_tick(marker, CLOCK_TRIES, ret_now);

	return r < 0 ? hb_fail(err, r, "cannot tell the file system's time")
		     : 0;
}

static int is_same_mount(int a, int b)
{
	uint64_t x, y;
	int r;

	r = sys_mount_id(a, &x);
	if (r >= 0)
		r = sys_mount_id(b, &y);
	return r < 0 ? r : x == y;
}

int resource_make_upper(int dir, struct hb_error *err)
{
	/* The view's top directory has its mode: set later. */
	int r = sys_mkdirat(dir, "upper", 0700);

	return r < 0 ? hb_fail(err, r, "cannot make a layer") : 0;
}

int resource_make_dirs(int dir, struct hb_error *err)
{
	static const char *const names[] = { "layers", "txn", "undo", "trash" };
	int r;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		r = sys_mkdirat(dir, names[i], 0700);
		if (r < 0 && r != -EEXIST)
			return hb_fail(err, r, "cannot make '%s'", names[i]);
	}
	return 0;
}

static int place_without_marker(const struct hb_store *store, int base, int dir,
				size_t number, struct session_record *record,
				struct hb_error *err)
{
	struct record_resource *resource = &record->resources[number];
	auto_fd int place =
		berth_make(store, base, dir, -1, number, record, err);
	auto_fd int marker = -1;
	int r;

	if (place < 0)
		return place;
	marker = sys_unnamed_file(place);
	if (marker < 0)
		return hb_fail(err, marker, "cannot use the store for '%s'",
			       resource->source);
	r = resource_clock(marker, &resource->t0, err);
	return r < 0 ? r : take_fd(&place);
}

static int find_place(const struct hb_store *store, int base, int dir,
		      size_t number, struct session_record *record,
		      struct hb_error *err)
{
	struct record_resource *resource = &record->resources[number];
	static const char probe[] = "probe";
	auto_fd int marker = -1;
	int r;

	if (sys_is_one_place(base, dir)) {
		r = resource_clock(dir, &resource->t0, err);
		resource->same_mount = true;
		return r < 0 ? r : sys_dup_above(dir, 3);
	}
	marker = sys_tmpfile(base);
	if (marker >= 0) {
		r = resource_clock(marker, &resource->t0, err);
		if (r < 0)
			return r;
		/* Out of an encrypted directory it could be moved, not back. */
		r = sys_is_encrypted(base) && !sys_is_encrypted(dir)
			    ? -EXDEV
			    : sys_name_file(marker, dir, probe);
		if (r == -EXDEV) {
			auto_fd int place = berth_make(store, base, dir, marker,
						       number, record, err);

			if (place < 0)
				return place;
			/* Later than what this has changed at the top. */
			r = resource_clock(marker, &resource->t0, err);
			return r < 0 ? r : take_fd(&place);
		}
		if (r < 0)
			return hb_fail(err, r, "cannot use the store for '%s'",
				       resource->source);
		(void)sys_unlinkat(dir, probe, 0);
		resource->same_mount = true;
		return sys_dup_above(dir, 3);
	}
	/*
	 * Not ours to write at its top, or no such files there.  Objects below
	 * may still be ours, and are moved if it is the same mount.
	 */
	r = is_same_mount(base, dir);
	if (r < 0)
		return hb_fail(err, r, "cannot tell where '%s' lies",
			       resource->source);
	/* FUSE and NFS, where a name has to do. */
	if (r == 0 && marker == -EOPNOTSUPP &&
	    sys_faccessat(base, ".", W_OK) >= 0)
		return place_without_marker(store, base, dir, number, record,
					    err);
	resource->same_mount = r > 0;
	marker = sys_unnamed_file(dir);
	if (marker < 0)
		return hb_fail(err, marker, "cannot use the store for '%s'",
			       resource->source);
	r = resource_clock(marker, &resource->t0, err);
	if (r < 0)
		return r;
	return sys_dup_above(dir, 3);
}

int resource_place(const struct hb_store *store, int base, int dir,
		   size_t number, struct session_record *record,
		   struct hb_error *err)
{
	struct record_resource *resource = &record->resources[number];
	auto_fd int place = find_place(store, base, dir, number, record, err);
	struct sys_attr attr;
	int r;

	if (place < 0)
		return place;
	/*
	 * In the lower layer of an overlay it was born by our first file in it,
	 * for that copied it up.
	 */
	r = sys_attr_at(base, "", &attr);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", resource->source);
	resource->btime = attr.btime;
	return take_fd(&place);
}
