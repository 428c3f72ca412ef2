/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/unmark.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/mode.h"
#include "base/time.h"
#include "changes/resource.h"
#include "session/interruption.h"
#include "session/live/takeover.h"
#include "session/open.h"
#include "session/session.h"
#include "store/seen.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/access.h"
#include "tree/entry.h"
#include "tree/overlay.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* In the session's directory, from unmark_begin() to unmark_settle(). */
#define BEGUN "taken"

/* There too, from unmark_begin() on, for ever. */
#define KEPT "kept-upper"

int unmark_add(struct unmark *u, const char *path, struct hb_error *err)
{
	char *kept = grow(u->dirs, u->n) < 0 ? NULL : strdup(path);

	if (!kept)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	u->dirs[u->n++] = kept;
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void unmark_sort(struct unmark *u)
{
	if (u->n > 0)
		qsort(u->dirs, u->n, sizeof(*u->dirs), compare);
}

void unmark_done(struct unmark *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->dirs[i]);
	free(u->dirs);
	*u = (struct unmark){ 0 };
}

/* Whether the path lies below one of them; cuts it to that meanwhile. */
static bool is_below(const struct unmark *u, char *path)
{
	for (char *slash = strchr(path, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		bool is_found;

		*slash = '\0';
		is_found = bsearch(&path, u->dirs, u->n, sizeof(*u->dirs),
				   compare) != NULL;
		*slash = '/';
		if (is_found)
			return true;
	}
	return false;
}

bool unmark_has_base(const struct resource *resource, const char *path)
{
	auto_fd int fd = access_open_below(resource->base, path, strlen(path),
					   O_PATH, NULL);

	return fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP;
}

bool unmark_counts(const struct resource *resource, const char *path,
		   const struct entry *entry)
{
	return entry->taken != 0 && (entry->taken == entry_place(path) ||
				     !unmark_has_base(resource, path));
}

static int remove_one(int fd, const char *name)
{
	int r = sys_remove_xattr(fd, name);

	return r == -ENODATA ? 0 : r;
}

/* The kernel's first: without ours it would be the kernel's own. */
static int remove_both(int fd, bool is_ours)
{
	int r = is_ours ? remove_one(fd, OVERLAY_OPAQUE) : 0;

	return r < 0 ? r : remove_one(fd, OVERLAY_TAKEN);
}

int unmark_strip(int dir, const char *name, bool is_ours, struct hb_error *err)
{
	auto_fd int fd =
		sys_openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	struct sys_attr a;
	int r = fd < 0 ? fd : remove_both(fd, is_ours);

	/* A directory that is closed to its owner. */
	if (r == -EACCES && sys_attr_at(fd, "", &a) >= 0 &&
	    sys_chmod_fd(fd, (a.mode & 07777) | USER_ALL) >= 0) {
		int given;

		r = remove_both(fd, is_ours);
		given = sys_chmod_fd(fd, a.mode & 07777);
		r = r < 0 ? r : given;
	}
	return r < 0 ? hb_fail_at(err, r, name, "cannot take a mark from") : 0;
}

struct deleting {
	const struct unmark *marks;
	int upper, into;
};

/* The directory keeps its time, and its mode. */
static int put_whiteout(int dir, const char *name)
{
	struct sys_attr a;
	int r = sys_attr_at(dir, "", &a), given;

	if (r < 0)
		return r;
	r = sys_make_whiteout(dir, name);
	if (r == -EACCES && sys_fchmod(dir, (a.mode & 07777) | USER_ALL) >= 0) {
		r = sys_make_whiteout(dir, name);
		given = sys_fchmod(dir, a.mode & 07777);
		r = r < 0 ? r : given;
	}
	if (r >= 0)
		r = sys_set_mtime_at(dir, "", a.mtime);
	return r == -EEXIST ? 0 : r;
}

/* Of type seen_each_fn. */
static int delete_one(void *ctx, const struct seen *seen, struct hb_error *err)
{
	const struct deleting *d = ctx;
	auto_free char *path = strdup(seen->path);
	auto_fd int from = -1, to = -1;
	struct sys_attr a;
	char *name;
	size_t len;
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	if (seen->conflict != 0 || seen->base_ino == 0 || path[0] == '/' ||
	    path[0] == '\0' ||
	    (seen->layer_ino != SEEN_APART && !is_below(d->marks, path)))
		return 0;
	name = strrchr(path, '/');
	len = name ? (size_t)(name - path) : 0;
	name = name ? name + 1 : path;
	from = access_open_below(d->upper, path, len, O_PATH, NULL);
	/* The directory is gone itself, or is another object. */
	if (from < 0 || sys_attr_at(from, name, &a) != -ENOENT)
		return 0;
	to = access_open_below(d->into, path, len, O_RDONLY, err);
	r = to < 0 ? to : put_whiteout(to, name);
	return r < 0 ? hb_fail_at(err, r, path, "cannot note the deletion of")
		     : 0;
}

int unmark_delete(const struct unmark *u, struct seen_file *seen, int upper,
		  int into, struct hb_error *err)
{
	struct deleting d = { u, upper, into };

	return seen_each(seen, delete_one, &d, err);
}

struct finding {
	const struct resource *resource;
	struct seen_file *seen;
	struct unmark ours, others; /* of unmark_counts(), and all others */
};

/* Of type tree_fn. */
static int find_mark(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	struct finding *f = ctx;
	struct entry e;
	int r;

	if (visit->when != TREE_ENTER || !S_ISDIR(visit->attr.mode))
		return 0;
	r = entry_read_layer(visit->dir, visit->name, &e, err);
	if (r < 0 || (e.taken == 0 && !e.is_opaque))
		return r;
	if (unmark_counts(f->resource, visit->path, &e) ||
	    takeover_can(f->resource, f->seen, visit->path, &e))
		return unmark_add(&f->ours, visit->path, err);
	return e.taken != 0 ? unmark_add(&f->others, visit->path, err) : 0;
}

static int remove_marks(const struct unmark *u, int upper, bool is_ours,
			struct hb_error *err)
{
	for (size_t i = 0; i < u->n; i++) {
		const char *path = u->dirs[i], *slash = strrchr(path, '/');
		auto_fd int dir = access_open_below(
			upper, path, slash ? (size_t)(slash - path) : 0, O_PATH,
			err);
		int r = dir < 0 ? dir
				: unmark_strip(dir, slash ? slash + 1 : path,
					       is_ours, err);

		if (r < 0)
			return r;
	}
	return 0;
}

struct ending {
	struct seen_log *log;
};

/* Of type seen_each_fn: its whiteout is there, or the object is. */
static int end_apart(void *ctx, const struct seen *seen, struct hb_error *err)
{
	struct ending *e = ctx;
	struct seen now = *seen;

	if (seen->layer_ino != SEEN_APART)
		return 0;
	now.layer_ino = 0;
	return seen_log_add(e->log, &now, err);
}

static int end_aparts(const struct resource *resource, struct seen_file *seen,
		      struct hb_error *err)
{
	struct seen_log log;
	struct ending e = { &log };
	int r;

	seen_log_begin(resource->dir, seen, &log);
	r = seen_each(seen, end_apart, &e, err);
	if (r >= 0)
		r = seen_log_end(&log, false, err);
	seen_log_done(&log);
	return r;
}

static int settle_one(const struct resource *resource, struct hb_error *err)
{
	struct seen_file seen;
	struct finding f = { .resource = resource, .seen = &seen };
	int r;

	r = seen_open(resource->dir, &seen, err);
	if (r < 0)
		return r;
	r = tree_walk(resource->upper, ".", TREE_OURS, find_mark, &f, err);
	unmark_sort(&f.ours);
	if (r >= 0)
		r = unmark_delete(&f.ours, &seen, resource->upper,
				  resource->upper, err);
	if (r >= 0)
		r = remove_marks(&f.ours, resource->upper, true, err);
	if (r >= 0)
		r = remove_marks(&f.others, resource->upper, false, err);
	if (r >= 0)
		r = end_aparts(resource, &seen, err);
	unmark_done(&f.ours);
	unmark_done(&f.others);
	seen_done(&seen);
	return r < 0 ? hb_fail(err, r, "cannot end the marks of '%s'",
			       resource->record->source)
		     : 0;
}

int unmark_begin(const struct hb_session *s, struct hb_error *err)
{
	static const char *const names[] = { KEPT, BEGUN };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < 2; i++) {
		auto_fd int fd =
			sys_openat(s->dir, names[i],
				   O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);

		r = fd;
	}
	if (r >= 0)
		r = sys_fsync(s->dir);
	return r < 0 ? hb_fail(err, r, "cannot mark the changes of '%s'",
			       s->record.name)
		     : 0;
}

static bool has_file(const struct hb_session *s, const char *name)
{
	struct sys_attr a;

	return sys_attr_at(s->dir, name, &a) >= 0;
}

bool unmark_is_due(const struct hb_session *s)
{
	return has_file(s, BEGUN);
}

bool unmark_was_begun(const struct hb_session *s)
{
	return has_file(s, KEPT);
}

int unmark_settle(struct hb_session *s, struct hb_error *err)
{
	bool is_all = true;
	int r;

	/* Its deletions are known when that has ended. */
	if (!unmark_is_due(s) || session_has_journal(s))
		return 0;
	r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		is_all = is_all && !s->resources[i].is_gone;
		if (!s->resources[i].is_gone)
			r = settle_one(&s->resources[i], err);
	}
	if (r >= 0 && is_all)
		r = sys_unlinkat(s->dir, BEGUN, 0);
	return r < 0 ? hb_fail(err, r, "cannot settle the changes") : 0;
}
