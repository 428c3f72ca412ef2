/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/unmark.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/resource.h"
#include "store/seen.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/access.h"
#include "tree/overlay.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

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

struct deleting {
	const struct unmark *marks;
	int upper, into;
};

/* Of type seen_each_fn. */
static int delete_one(void *ctx, const struct seen *seen, struct hb_error *err)
{
	const struct deleting *d = ctx;
	auto_free char *path = strdup(seen->path);
	auto_fd int from = -1, to = -1;
	struct sys_attr a;
	char *name;
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	if (seen->layer_ino == 0 || seen->base_ino == 0 || path[0] == '/' ||
	    !is_below(d->marks, path))
		return 0;
	name = strrchr(path, '/') + 1;
	from = access_open_below(d->upper, path, (size_t)(name - path) - 1,
				 O_PATH, NULL);
	/* The directory is gone itself, or is another object. */
	if (from < 0 || sys_attr_at(from, name, &a) != -ENOENT)
		return 0;
	to = access_open_below(d->into, path, (size_t)(name - path) - 1,
			       O_RDONLY, err);
	r = to < 0 ? to : sys_make_whiteout(to, name);
	return r < 0 && r != -EEXIST
		       ? hb_fail_at(err, r, path, "cannot note the deletion of")
		       : 0;
}

int unmark_delete(const struct unmark *u, struct seen_file *seen, int upper,
		  int into, struct hb_error *err)
{
	struct deleting d = { u, upper, into };

	return u->n > 0 ? seen_each(seen, delete_one, &d, err) : 0;
}

/* Of type tree_fn. */
static int find_mark(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	auto_fd int fd = -1;

	if (visit->when != TREE_ENTER || !S_ISDIR(visit->attr.mode))
		return 0;
	fd = sys_openat(visit->dir, visit->name,
			O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd < 0 || sys_get_xattr(fd, OVERLAY_TAKEN, NULL, 0) < 0)
		return 0;
	return unmark_add(ctx, visit->path, err);
}

/* The kernel's first: without ours it would be the kernel's own. */
static int remove_marks(const struct unmark *u, int upper, struct hb_error *err)
{
	for (size_t i = 0; i < u->n; i++) {
		auto_fd int fd = access_open_below(
			upper, u->dirs[i], strlen(u->dirs[i]), O_PATH, err);
		int r = fd < 0 ? fd : sys_remove_xattr(fd, OVERLAY_OPAQUE);

		if (r >= 0 || r == -ENODATA)
			r = sys_remove_xattr(fd, OVERLAY_TAKEN);
		if (r < 0)
			return hb_fail_at(err, r, u->dirs[i],
					  "cannot take a mark from");
	}
	return 0;
}

int unmark_settle(const struct resource *resource, struct hb_error *err)
{
	struct seen_file seen;
	struct unmark u = { 0 };
	int r;

	if (resource->is_gone)
		return 0;
	r = seen_open(resource->dir, &seen, err);
	if (r < 0)
		return r;
	/* Nothing was ever taken from it. */
	if (seen.end > 0)
		r = tree_walk(resource->upper, ".", TREE_OURS, find_mark, &u,
			      err);
	unmark_sort(&u);
	if (r >= 0)
		r = unmark_delete(&u, &seen, resource->upper, resource->upper,
				  err);
	if (r >= 0)
		r = remove_marks(&u, resource->upper, err);
	unmark_done(&u);
	seen_done(&seen);
	return r;
}
