/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/preflight.h"

#include "base/error.h"
#include "base/mode.h"
#include "base/quote.h"
#include "sys/attr.h"
#include "sys/durable.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define SPACE_MARGIN ((uint64_t)1 << 20)

static const char *shown_path(const char *path, char *out, size_t size)
{
	return quote_shown(*path ? path : ".", out, size);
}

static bool is_ours(const struct object *o)
{
	uid_t uid = sys_effective_uid();

	return uid == 0 || o->uid == uid;
}

static int check_flags(const struct sys_obstacle *o, const char *path,
		       struct hb_error *err)
{
	const char *what = o->is_immutable     ? "immutable"
			   : o->is_append_only ? "append-only"
					       : NULL;
	char shown[QUOTE_SHOWN];

	if (!what)
		return 0;
	shown_path(path, shown, sizeof(shown));
	hb_fix(err, "chattr -%c %s, or --except it",
	       o->is_immutable ? 'i' : 'a', shown);
	return hb_fail(err, -EPERM, "%s is %s", shown, what);
}

int preflight_dir(const struct site *s, int fd, const struct object *dir,
		  const char *path, struct hb_error *err)
{
	struct sys_obstacle here = { 0 }, spot = { 0 };
	char shown[QUOTE_SHOWN];
	int r;

	shown_path(path, shown, sizeof(shown));
	r = sys_obstacle_at(fd, "", &here);
	if (r == 0)
		r = sys_obstacle_at(s->resource->spot, "", &spot);
	if (r < 0)
		return hb_fail(err, r, "cannot look at %s", shown);
	r = check_flags(&here, path, err);
	if (r < 0)
		return r;
	r = sys_can_change_dir(fd);
	/* Its owner may open it up, which the journal undoes. */
	if (r == -EACCES && is_ours(dir) &&
	    (dir->mode & USER_CHANGE) != USER_CHANGE)
		r = 0;
	if (r == -EACCES)
		hb_fix(err, "make %s writable for you, or --except it", shown);
	if (r < 0)
		return hb_fail(err, r, "cannot change the entries of %s",
			       shown);
	if (here.mount != spot.mount || here.dev != spot.dev) {
		hb_fix(err, "a session with a --state-dir on the file system "
			    "of the resource");
		return hb_fail(err, -EXDEV,
			       "the directory %s and the session's store are "
			       "on different file systems",
			       shown);
	}
	return 0;
}

int preflight_old(int dirfd, const struct object *dir, const struct op *op,
		  struct hb_error *err)
{
	const char *slash = strrchr(op->path, '/');
	struct sys_obstacle o;
	char shown[QUOTE_SHOWN];
	struct sys_space space;
	int r;

	shown_path(op->path, shown, sizeof(shown));
	r = sys_obstacle_at(dirfd, slash ? slash + 1 : op->path, &o);
	if (r == -ENOENT)
		return hb_fail(err, -HB_E_CONFLICT, "%s has vanished", shown);
	if (r < 0)
		return hb_fail(err, r, "cannot look at %s", shown);
	r = check_flags(&o, op->path, err);
	if (r < 0)
		return r;
	if ((dir->mode & S_ISVTX) && !is_ours(dir) && !is_ours(&op->old))
		return hb_fail(
			err, -EPERM,
			"%s belongs to another user, in a directory where "
			"only its owner may move it",
			shown);
	if (op->old.type != ENTRY_DIR || !op_moves(op))
		return 0;
	if (!(op->old.mode & USER_WRITE) && !is_ours(&op->old))
		return hb_fail(err, -EACCES,
			       "the directory %s cannot be moved by us", shown);
	r = sys_space(dirfd, &space);
	if (r == 0 && space.is_overlay)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "the directory %s lies on an overlay, which "
			       "cannot move it",
			       shown);
	return 0;
}

int preflight_inside(const struct entry *old, const char *path,
		     struct hb_error *err)
{
	char shown[QUOTE_SHOWN];

	if (old->type == ENTRY_NONE || !old->is_fixed)
		return 0;
	/* The kernel lets it move, but later no program could remove it. */
	shown_path(path, shown, sizeof(shown));
	hb_fix(err, "chattr -ia %s", shown);
	return hb_fail(err, -EPERM, "%s is immutable or append-only", shown);
}

int preflight_space(const struct site *s, uint64_t bytes, struct hb_error *err)
{
	struct sys_space space;
	int r = sys_space(s->resource->spot, &space);

	if (r < 0)
		return hb_fail(err, r, "cannot ask for free space");
	bytes += bytes / 20 + SPACE_MARGIN;
	if (space.free_bytes < bytes) {
		hb_fix(err, "make room on the file system of the resource");
		return hb_fail(err, -ENOSPC, "a commit needs %llu bytes there",
			       (unsigned long long)bytes);
	}
	return 0;
}
