/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/deciding.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/filter.h"
#include "changes/git/delivered.h"
#include "git/gitunit.h"
#include "git/indexmerge.h"
#include "git/kept/kept_index.h"
#include "git/objectstore.h"
#include "review/git/as_branch.h"
#include "review/git/base_files.h"
#include "review/git/deliveries.h"
#include "review/git/merge/merging.h"
#include "review/git/module_tree.h"
#include "review/git/new_desk.h"
#include "review/git/units.h"
#include "session/git/indexes.h"
#include "session/git/kept_values.h"
#include "session/session.h"
#include "sys/attr.h"
#include "tree/access.h"
#include "tree/content.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD "cannot deliver a repository"

static int open_session_file(const struct deciding *d,
			     const struct unit_file *file)
{
	const struct content_place place = {
		.root = d->resource->layers[file->layer],
		.in_layer = true,
		.path = file->whole,
		.entry = &file->new,
	};

	return content_open(&place, NULL);
}

/* Of type delivery_read_fn. */
static int read_session(void *ctx, const char *path, size_t max,
			char **ret_data, size_t *ret_len)
{
	const struct deciding *d = ctx;
	const struct unit_file *file = unit_find(d->unit, path);
	auto_free char *data = NULL;
	auto_fd int fd = -1;
	ssize_t n;

	if (!file || file->is_gone)
		return -ENOENT;
	if (file->new.size > max)
		return -EFBIG;
	fd = open_session_file(d, file);
	data = malloc((size_t)file->new.size + 1);
	if (fd < 0 || !data)
		return fd < 0 ? fd : -ENOMEM;
	n = sys_pread_full(fd, data, (size_t)file->new.size, 0);
	if (n < 0)
		return (int)n;
	data[n] = '\0';
	*ret_data = take_ptr(&data);
	*ret_len = (size_t)n;
	return 0;
}

static int path_in(const struct unit *unit, const char *path, char **ret)
{
	return asprintf(ret, "%s%s%s", unit->prefix, *unit->prefix ? "/" : "",
			path) < 0
		       ? -ENOMEM
		       : 0;
}

/* Of a path from the git directory on. */
static enum delivery_trace trace(void *ctx, const char *path)
{
	const struct deciding *d = ctx;
	auto_free char *whole = NULL;
	const char *name;

	if (path_in(d->unit, path, &whole) < 0) {
		whole = NULL;
		return DELIVERY_TRACE_NONE;
	}
	name = strrchr(whole, '/');
	name = name ? name + 1 : whole;
	for (size_t i = 0; i < d->resource->n_layers; i++) {
		auto_fd int dir = content_find_dir(
			d->resource->layers[i], whole,
			name == whole ? 0 : (size_t)(name - whole) - 1, NULL);
		struct entry e = { 0 };

		if (dir < 0 || entry_read_layer(dir, name, &e, NULL) < 0)
			continue;
		if (e.is_whiteout)
			return DELIVERY_TRACE_REMOVED;
		if (e.type != ENTRY_NONE)
			return DELIVERY_TRACE_FILE;
	}
	return DELIVERY_TRACE_NONE;
}

int deciding_read(const struct deciding *d, const char *path, size_t max,
		  char **ret_data, size_t *ret_len)
{
	return read_session((void *)(uintptr_t)d, path, max, ret_data, ret_len);
}

/* Of a path from the work tree on. */
static bool is_left(void *ctx, const char *path)
{
	const struct deciding *d = ctx;
	auto_free char *whole = NULL;

	if (!d->below)
		return false;
	if (asprintf(&whole, "%s%s", d->below, path) < 0) {
		whole = NULL;
		return true;
	}
	return units_leave(d->units, d->tree, whole);
}

int deciding_objects(const struct deciding *d, struct objectstore **ret_objects)
{
	struct objectstore *objects = objectstore_new();
	int r = objects ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < d->resource->n_layers; i++)
		r = objectstore_add(objects, d->resource->layers[i],
				    d->unit->prefix);
	if (r >= 0)
		r = objectstore_add(objects, d->resource->base,
				    d->unit->prefix);
	*ret_objects = objects;
	return r;
}

static int open_kept_index(const struct deciding *d, uint64_t *ret_size)
{
	auto_free char *path = NULL;
	char name[sizeof(d->desk) + sizeof("/index")];

	(void)snprintf(name, sizeof(name), "%s%sindex", d->desk,
		       d->desk[0] ? "/" : "");
	if (d->has_merge)
		return -ENOENT;
	if (path_in(d->unit, name, &path) < 0)
		return -ENOMEM;
	return indexes_open(d->session, d->unit->resource, path, ret_size);
}

int deciding_ask(struct deciding *d, const struct deliver *deliver,
		 const struct kept_refs *kept, struct hb_error *err)
{
	auto_free struct delivery_change *changes =
		calloc(d->unit->n + 1, sizeof(*changes));
	struct objectstore *objects = NULL;
	uint64_t size = 0;
	auto_fd int index = open_kept_index(d, &size);
	auto_free char *ref = as_branch_ref(deliver->as_branch);
	struct delivery_request q = {
		.mode = deliver->mode,
		.is_ahead = deliver->is_ahead,
		.without = deliver->without,
		.as_ref = ref,
		.as_commit = deliver->as_commit,
		.session = d->session->record.name,
		.base = d->resource->base,
		.prefix = d->unit->prefix,
		.desk = d->desk,
		.kept = kept,
		.kept_index = index < 0 ? -1 : index,
		.changes = changes,
		.n_changes = d->unit->n,
		.read = read_session,
		.ctx = d,
		.is_held = d->units->n_left > 0 ? is_left : NULL,
		.trace = trace,
	};
	int r = changes && (ref || !deliver->as_branch)
			? deciding_objects(d, &objects)
			: -ENOMEM;

	for (size_t i = 0; changes && i < d->unit->n; i++)
		changes[i] = (struct delivery_change){
			.path = d->unit->files[i].path,
			.is_gone = d->unit->files[i].is_gone,
			.is_newer = d->unit->files[i].is_newer,
		};
	q.objects = objects;
	if (r >= 0)
		r = delivery_decide(&q, d->delivery, err);
	else
		(void)hb_fail(err, r, WORD);
	objectstore_free(objects);
	return r;
}

static ssize_t read_fd(void *ctx, void *buf, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, buf, size, offset);
}

/*
 * Stat data of entries that the session changed is left out.  The transaction
 * fills it in where the files are as the entries say: txn/placed_stat.h.
 */
static int merge_index(const struct deciding *d, const char *path,
		       struct delivered_item *item)
{
	const struct unit_file *file = unit_find(d->unit, path);
	auto_buf struct buf out = BUF_INIT(INDEXMERGE_MAX);
	struct indexmerge_result result = { 0 };
	uint64_t sizes[2] = { 0, 0 };
	auto_fd int then = open_kept_index(d, &sizes[0]);
	auto_fd int base =
		access_open_regular(d->resource->base, item->path, &sizes[1]);
	auto_fd int session =
		!file || file->is_gone ? -1 : open_session_file(d, file);
	struct indexmerge_request q = {
		.id_size = d->delivery->id_size,
		.base_mtime = item->old.mtime,
		.moved = d->delivery->moved,
		.n_moved = d->delivery->n_moved,
	};
	int r;

	if (base >= 0)
		q.base = (struct indexmerge_side){ read_fd, &base, sizes[1] };
	/* As it was decided: without a copy the base's is the one of T0. */
	q.then = q.base;
	if (then >= 0)
		q.then = (struct indexmerge_side){ read_fd, &then, sizes[0] };
	if (session >= 0)
		q.session = (struct indexmerge_side){ read_fd, &session,
						      file->new.size };
	r = indexmerge(&q, &out, &result);
	if (r >= 0 && result.n_conflicts > 0)
		r = -HB_E_CONFLICT;
	return r < 0 ? r : buf_take(&out, &item->data, &item->size);
}

static const enum delivered_how hows[] = {
	[DELIVERY_AS_IS] = DELIVERED_MADE,
	[DELIVERY_MADE] = DELIVERED_MADE,
	[DELIVERY_INDEX] = DELIVERED_MADE,
	[DELIVERY_DELETE] = DELIVERED_GONE,
	[DELIVERY_SETTLED] = DELIVERED_SETTLED,
	[DELIVERY_STAYS] = DELIVERED_HELD,
	[DELIVERY_DROPPED] = DELIVERED_HELD,
};

static const enum delivered_turn turns[] = {
	[DELIVERY_STAGE_OBJECTS] = TURN_FILES,
	[DELIVERY_STAGE_LOGS] = TURN_LOGS,
	[DELIVERY_STAGE_REFS] = TURN_REFS,
	[DELIVERY_STAGE_GONE] = TURN_GONE,
	[DELIVERY_STAGE_HEAD] = TURN_HEAD,
	[DELIVERY_STAGE_REST] = TURN_REST,
	[DELIVERY_STAGE_INDEX] = TURN_INDEX,
};

/*
 * A directory that leaves the layer takes all with it at once, so what is in
 * it has one turn.
 */
static enum delivered_turn turn_of_layer(const char *path)
{
	return strncmp(path, "logs", 4) == 0 || strstr(path, "/logs/")
		       ? TURN_LOGS
		       : TURN_REFS;
}

/* A reference, a log, or a directory of them. */
static bool is_value(const char *path)
{
	return strncmp(path, "refs/", 5) == 0 ||
	       strncmp(path, "logs/", 5) == 0 || strstr(path, "/refs/") ||
	       strstr(path, "/logs/");
}

static bool is_index(const char *path)
{
	return git_is_index_path(GIT_TOP, path);
}

/* What the item has for content. */
static int fill_item(const struct deciding *d, const struct delivery_item *from,
		     struct delivered_item *item)
{
	if (from->how == DELIVERY_INDEX)
		return merge_index(d, from->path, item);
	if (from->how == DELIVERY_AS_IS)
		return read_session((void *)(uintptr_t)d, from->path,
				    DELIVERED_MAX, &item->data, &item->size);
	if (from->how != DELIVERY_MADE)
		return 0;
	item->data = malloc(from->len + 1);
	if (!item->data)
		return -ENOMEM;
	memcpy(item->data, from->content, from->len);
	item->size = from->len;
	return 0;
}

/*
 * A value that is delivered as it is, is made as well.  Its directory leaves
 * the layer with all that is in it, and must not take it along.
 */
static bool is_item(const struct deciding *d, const struct delivery_item *from)
{
	const struct unit_file *file = unit_find(d->unit, from->path);

	/* No layer of the session has it. */
	if (from->how == DELIVERY_AS_IS && d->has_merge && file &&
	    file->layer + 1 == d->resource->n_layers)
		return !file->is_gone;
	/* An index with entries that the user changed is a conflict. */
	if (from->how == DELIVERY_AS_IS)
		return file && !file->is_gone &&
		       !new_desk_has(&d->files, d->unit, from->path) &&
		       (is_value(from->path) ||
			(is_index(from->path) && !file->is_newer));
	/* Left behind by itself, and counted so. */
	return from->how != DELIVERY_DROPPED || !file ||
	       !(file->flags & CHANGE_LOCK);
}

/* What has to hold under git's locks, and is going to. */
static int keep_values(const struct deciding *d,
		       const struct delivery_item *from,
		       struct delivered_item *item)
{
	if (!from->is_ref)
		return 0;
	item->unit = strlen(d->unit->prefix);
	item->then = strdup(from->old);
	item->next = strdup(from->new);
	return item->then && item->next ? 0 : -ENOMEM;
}

/*
 * Whether it is an object that the session packed, in a directory that it made
 * again.  What the base has in there stays, and what is new is added to it.
 */
static bool is_in_opaque(const struct deciding *d, const char *path)
{
	if (!git_is_object_path(GIT_TOP, path))
		return false;
	for (size_t i = 0; i < d->unit->n_dirs; i++) {
		const struct unit_file *dir = &d->unit->dirs[i];
		size_t n = strlen(dir->path);

		if ((dir->flags & CHANGE_OPAQUE) &&
		    strncmp(path, dir->path, n) == 0 && path[n] == '/')
			return true;
	}
	return false;
}

/* An object of the session's own goes without being read into memory. */
static int too_large(const struct deciding *d, struct hb_error *err)
{
	hb_fix(err, "holdback exec @%s -- git commit, with the large file",
	       d->session->record.name);
	return hb_fail(err, -HB_E_STATE,
		       "a file that the session did not commit is too large "
		       "to be committed for it");
}

static int add_item(struct deciding *d, const struct delivery_item *from,
		    struct hb_error *err)
{
	struct delivered *list = &d->lists[d->unit->resource];
	auto_free char *path = NULL;
	struct delivered_item *item;
	int r;

	if (!is_item(d, from))
		return 0;
	if (path_in(d->unit, from->path, &path) < 0)
		return hb_fail(err, -ENOMEM, WORD);
	item = delivered_add(list, path, hows[from->how]);
	if (!item)
		return hb_fail(err, -ENOMEM, WORD);
	if (item->how == DELIVERED_SETTLED && is_in_opaque(d, from->path))
		item->how = DELIVERED_HELD;
	item->turn = item->how == DELIVERED_SETTLED ? turn_of_layer(from->path)
		     : is_index(from->path)	    ? TURN_INDEX
						    : turns[from->stage];
	base_files_get(&d->files, path, &item->old);
	item->has_old = true;
	item->keeps_layer = from->keeps_layer;
	item->is_locked = from->is_ref || is_index(from->path) ||
			  strcmp(from->path, "packed-refs") == 0;
	r = keep_values(d, from, item);
	if (r >= 0)
		r = fill_item(d, from, item);
	if (r >= 0 && from->how == DELIVERY_INDEX)
		placed_index_note(&d->repo->index, item);
	if (r == -EFBIG && d->has_merge)
		return too_large(d, err);
	return r < 0 ? hb_fail_at(err, r, path, "cannot deliver") : 0;
}

bool deciding_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/*
 * What becomes of a directory by what becomes of the files in it.  A
 * directory of other things goes as it is, with its files.  A directory of
 * objects that the session packed stays: the user may have new ones in it.
 */
static bool judge_dir(const struct delivered *list, size_t n,
		      const struct unit_file *dir, enum delivered_how *ret)
{
	bool is_known =
		is_value(dir->path) || git_is_object_path(GIT_TOP, dir->path);

	*ret = DELIVERED_SETTLED;
	for (size_t i = 0; i < n; i++) {
		const struct delivered_item *item = &list->items[i];

		if (strcmp(item->path, dir->whole) == 0)
			return false;
		if (!deciding_is_below(item->path, dir->whole))
			continue;
		if (item->how == DELIVERED_HELD)
			*ret = DELIVERED_HELD;
		is_known |= item->how == DELIVERED_HELD ||
			    item->how == DELIVERED_SETTLED;
	}
	return is_known;
}

static int add_dirs(struct deciding *d, struct hb_error *err)
{
	struct delivered *list = &d->lists[d->unit->resource];
	size_t n = list->n;

	for (size_t i = 0; i < d->unit->n_dirs; i++) {
		const struct unit_file *dir = &d->unit->dirs[i];
		struct delivered_item *item;
		enum delivered_how how;

		if (!judge_dir(list, n, dir, &how))
			continue;
		item = delivered_add(list, dir->whole, how);
		if (!item)
			return hb_fail(err, -ENOMEM, WORD);
		item->turn = turn_of_layer(dir->path);
	}
	return 0;
}

int deciding_add_items(struct deciding *d, struct changes *const *changes,
		       struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->delivery->n; i++)
		r = add_item(d, &d->delivery->items[i], err);
	if (r < 0 || d->delivery->verdict == DELIVERY_AS_FILES)
		return r;
	r = add_dirs(d, err);
	return r < 0 ? r
		     : new_desk_hold(&d->files, d->unit, &d->repo->kept,
				     changes[d->unit->resource],
				     &d->lists[d->unit->resource], err);
}
