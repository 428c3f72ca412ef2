/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/takeover.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/time.h"
#include "changes/resource.h"
#include "store/seen.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/entry.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define OBJECTS_MAX 4096

struct look {
	const struct resource *resource;
	struct seen_file *seen;
	struct buf path; /* of the directory, with a slash behind it */
	size_t top_len, n;
};

/* Younger than the session, and never committed from it. */
static bool is_of_user(const struct look *l, const struct tree_visit *visit)
{
	struct seen seen;

	return visit->attr.btime.tv_sec != 0 &&
	       !time_is_before(visit->attr.btime, l->resource->record->t0) &&
	       !(seen_find(l->seen, buf_str(&l->path), &seen) &&
		 seen.base_ino == visit->attr.ino);
}

/* Of type tree_fn: below 0 means that it cannot be. */
static int look_one(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	struct look *l = ctx;
	auto_fd int dir = -1;
	struct sys_attr a;
	struct seen seen;
	size_t len;
	int r;

	(void)err;
	if (visit->when == TREE_LEAVE)
		return 0;
	buf_cut(&l->path, l->top_len);
	if (++l->n > OBJECTS_MAX || buf_add_str(&l->path, visit->path) < 0)
		return -E2BIG;
	len = l->path.len - strlen(visit->name);
	dir = access_open_below(l->resource->upper, buf_str(&l->path),
				len > 0 ? len - 1 : 0, O_PATH, NULL);
	r = dir < 0 ? dir : sys_attr_at(dir, visit->name, &a);
	if (r == -ENOENT)
		return is_of_user(l, visit) ? TREE_SKIP : -EEXIST;
	if (r < 0)
		return r;
	return seen_find(l->seen, buf_str(&l->path), &seen) &&
			       seen.conflict == 0 && seen.base_ino != 0 &&
			       seen.layer_ino == a.ino
		       ? 0
		       : -EEXIST;
}

bool takeover_is_same(struct seen_file *file, const char *path,
		      const struct entry *entry)
{
	struct seen seen;

	return seen_find(file, path, &seen) && seen.conflict == 0 &&
	       seen.base_ino != 0 && seen.layer_ino == entry->ino &&
	       /* A number is used again. */
	       !time_is_before(seen.layer_ctime, entry->btime);
}

bool takeover_can(const struct resource *resource, struct seen_file *seen,
		  const char *path, const struct entry *entry)
{
	struct look l = { .resource = resource,
			  .seen = seen,
			  .path = BUF_INIT(TREE_PATH_MAX) };
	auto_fd int base = -1;
	int r;

	if (!takeover_is_same(seen, path, entry))
		return false;
	base = access_open_below(resource->base, path, strlen(path), O_RDONLY,
				 NULL);
	r = base;

	if (r >= 0)
		r = buf_add_str(&l.path, path);
	if (r >= 0)
		r = buf_add_char(&l.path, '/');
	l.top_len = l.path.len;
	if (r >= 0)
		r = tree_walk(base, ".", 0, look_one, &l, NULL);
	buf_done(&l.path);
	return r >= 0;
}
