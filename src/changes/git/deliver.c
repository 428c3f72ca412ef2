/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/git/deliver.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "changes/changes.h"
#include "changes/resource.h"
#include "changes/stream.h"
#include "sys/attr.h"
#include "sys/place.h"
#include "tree/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 * Both lists are in path order, so one pass merges them.  The new stream keeps
 * a change for each item that does something.  Which item that is, is found
 * again while it is read, as renames are.
 */

/* Of a change, and of no use or no truth in the new set. */
static const unsigned left_out = CHANGE_CONFLICT | CHANGE_FIRM |
				 CHANGE_IGNORED | CHANGE_LOCK | CHANGE_RENAMED |
				 CHANGE_MOVED_AWAY | CHANGE_BEGUN;

const struct delivered *changes_delivered(const struct changes *changes)
{
	return &changes->delivered;
}

static int no_memory(struct hb_error *err)
{
	return hb_fail(err, -ENOMEM, "cannot deliver the repository");
}

/* What the base has there; ENTRY_NONE also where its directory is missing. */
static int read_base(int base, const char *path, struct entry *ret,
		     struct hb_error *err)
{
	const char *slash = strrchr(path, '/');
	auto_fd int dir = access_open_below(
		base, path, slash ? (size_t)(slash - path) : 0, O_PATH, NULL);

	*ret = (struct entry){ .type = ENTRY_NONE };
	if (access_is_gone(dir))
		return 0;
	return dir < 0 ? hb_fail_at(err, dir, path, "cannot look at")
		       : entry_read_base(dir, slash ? slash + 1 : path, ret,
					 err);
}

/*
 * The directory of the path of that length is one, or is going to be.  An item
 * that removes a file there makes room for it.
 */
static int need_dir(struct delivered *d, size_t n_sorted, int base,
		    const struct delivered_item *of, size_t len,
		    struct hb_error *err)
{
	auto_free char *dir = strndup(of->path, len);
	const struct delivered sorted = { d->items, n_sorted };
	struct delivered_item *item;
	struct entry old;
	int r;

	if (!dir)
		return no_memory(err);
	r = read_base(base, dir, &old, err);
	if (r < 0 || old.type == ENTRY_DIR)
		return r;
	item = (struct delivered_item *)(uintptr_t)delivered_find(&sorted, dir);
	if (item && item->is_dir)
		return 0;
	if (old.type != ENTRY_NONE && !(item && item->how == DELIVERED_GONE))
		return hb_fail_at(err, -HB_E_CONFLICT, dir,
				  "no directory can be made of");
	if (!item)
		item = delivered_add(d, dir, DELIVERED_MADE);
	if (!item)
		return no_memory(err);
	item->how = DELIVERED_MADE;
	item->is_dir = true;
	item->is_tree = of->is_tree;
	item->turn = of->turn;
	item->mtime = of->mtime;
	item->old = old;
	item->has_old = true;
	return 0;
}

/* Whether both paths lie below the directory that has this length in one. */
static bool is_shared(const char *path, const char *before, size_t len)
{
	return strncmp(path, before, len + 1) == 0;
}

/* In path order, so each directory is asked for once: all in it are together.
 */
static int need_dirs(struct delivered *d, int base, struct hb_error *err)
{
	const char *before = "";
	size_t n = d->n;

	for (size_t i = 0; i < n; i++) {
		/* The array may move, and its strings stay. */
		const struct delivered_item of = d->items[i];

		if (of.how != DELIVERED_MADE || of.is_dir)
			continue;
		for (size_t len = 1; of.path[len]; len++) {
			int r = of.path[len] == '/' &&
						!is_shared(of.path, before, len)
					? need_dir(d, n, base, &of, len, err)
					: 0;

			if (r < 0)
				return r;
		}
		before = of.path;
	}
	delivered_sort(d);
	return 0;
}

struct merge {
	struct changes *to;
	const struct resource *resource;
};

/* Mode and owner that a new object gets in the nearest directory there is. */
static int read_above(int base, const char *path, struct sys_attr *ret,
		      struct hb_error *err)
{
	size_t len = strlen(path);
	int fd, r;

	do {
		while (len > 0 && path[len - 1] != '/')
			len--;
		len -= len > 0;
		fd = access_open_below(base, path, len, O_PATH, NULL);
	} while (len > 0 && access_is_gone(fd));
	r = fd < 0 ? fd : sys_attr_at(fd, "", ret);
	fd_closep(&fd);
	return r < 0 ? hb_fail_at(err, r, path, "cannot look at") : 0;
}

/* As git would have made it there. */
static int describe(const struct merge *m, const struct delivered_item *item,
		    const struct entry *layer, struct entry *ret,
		    struct hb_error *err)
{
	struct sys_attr above;
	int r = read_above(m->resource->base, item->path, &above, err);
	bool is_root = sys_effective_uid() == 0;

	if (r < 0)
		return r;
	*ret = (struct entry){
		.type = item->is_dir ? ENTRY_DIR : ENTRY_FILE,
		.mode = item->is_dir ? (above.mode & 02777) | 0700
				     : (above.mode & 0666) | 0600,
		.uid = is_root ? above.uid : sys_effective_uid(),
		.gid = is_root ? above.gid : sys_effective_gid(),
		.size = item->size,
		.stored = item->size,
		.nlink = 1,
		.mtime = item->mtime,
	};
	if (item->is_link)
		ret->type = ENTRY_LINK;
	if (item->is_tree && !item->is_dir)
		ret->mode = item->is_link ? 0777 : item->mode;
	else if (item->old.type == ret->type)
		ret->mode = item->old.mode;
	else if (layer && layer->type == ret->type)
		ret->mode = layer->mode & 01777;
	if (is_root && item->old.type == ret->type) {
		ret->uid = item->old.uid;
		ret->gid = item->old.gid;
	}
	if (ret->mtime.tv_sec == 0)
		ret->mtime = sys_now();
	return 0;
}

static int put(const struct merge *m, const struct change *change,
	       struct hb_error *err)
{
	const struct spilled record = {
		.change = *change,
		.conflict = (enum conflict)change->conflict,
	};

	if (!(change->flags & CHANGE_CARRIED))
		changes_count(&m->to->summary, change);
	return spill_add(&m->to->spill, &record, err);
}

/* `change` is the session's at that path; NULL: it has none. */
static int put_item(const struct merge *m, struct delivered_item *item,
		    const struct change *change, struct hb_error *err)
{
	struct change c = { 0 };
	int r = 0;

	if (change)
		c = *change;
	c.path = item->path;
	c.flags = change ? change->flags & ~left_out : CHANGE_GIT;
	c.why = NULL;
	c.conflict = CONFLICT_NONE;
	if (item->how == DELIVERED_HELD || item->how == DELIVERED_SETTLED)
		return change ? put(m, &c, err) : 0;
	if (!item->has_old)
		r = read_base(m->resource->base, item->path, &item->old, err);
	if (r < 0)
		return r;
	item->has_old = true;
	c.flags = item->is_tree ? 0 : CHANGE_GIT;
	c.link_group = 0;
	c.what = CHANGED_CONTENT;
	c.old = item->old;
	c.new = (struct entry){ .type = ENTRY_NONE };
	if (item->how == DELIVERED_GONE && c.old.type == ENTRY_NONE) {
		item->how = DELIVERED_SETTLED;
		return put_item(m, item, change, err);
	}
	if (item->how == DELIVERED_MADE)
		r = describe(m, item, change ? &change->new : NULL, &c.new,
			     err);
	c.kind = c.new.type == ENTRY_NONE   ? CHANGE_DELETED
		 : c.old.type == ENTRY_NONE ? CHANGE_ADDED
		 : c.old.type != c.new.type ? CHANGE_TYPE
					    : CHANGE_MODIFIED;
	return r < 0 ? r : put(m, &c, err);
}

static int merge(const struct merge *m, struct changes *from,
		 struct hb_error *err)
{
	struct delivered *d = &m->to->delivered;
	struct change c;
	size_t at = 0;
	int r = changes_rewind(from, err);

	while (r >= 0 && (r = changes_next(from, &c, err)) == 1) {
		int order = -1;

		while (r >= 0 && at < d->n &&
		       (order = path_compare(d->items[at].path, c.path)) < 0)
			r = put_item(m, &d->items[at++], NULL, err);
		if (r < 0)
			return r;
		if (at < d->n && order == 0) {
			r = put_item(m, &d->items[at++], &c, err);
			continue;
		}
		c.flags &= ~(unsigned)(CHANGE_RENAMED | CHANGE_MOVED_AWAY);
		r = put(m, &c, err);
	}
	for (; r >= 0 && at < d->n; at++)
		r = put_item(m, &d->items[at], NULL, err);
	return r < 0 ? r : 0;
}

void changes_lay(struct changes *changes, struct delivered *delivered)
{
	delivered_done(&changes->delivered);
	changes->delivered = *delivered;
	*delivered = (struct delivered){ 0 };
	delivered_sort(&changes->delivered);
}

int changes_deliver(struct changes *from, const struct resource *resource,
		    int spill_dir, struct delivered *delivered,
		    struct changes **ret_changes, struct hb_error *err)
{
	struct merge m = { .to = calloc(1, sizeof(struct changes)),
			   .resource = resource };
	int r;

	if (!m.to)
		return no_memory(err);
	m.to->delivered = *delivered;
	*delivered = (struct delivered){ 0 };
	m.to->resource = from->resource;
	delivered_sort(&m.to->delivered);
	r = spill_init(&m.to->spill, spill_dir, err);
	if (r >= 0)
		r = need_dirs(&m.to->delivered, resource->base, err);
	if (r >= 0)
		r = merge(&m, from, err);
	if (r >= 0)
		r = changes_rewind(m.to, err);
	if (r < 0) {
		changes_free(m.to);
		return r;
	}
	*ret_changes = m.to;
	return 0;
}
