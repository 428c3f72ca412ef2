/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/merging_tree.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "changes/git/delivered.h"
#include "git/delivery/commit_tree.h"
#include "git/gittree.h"
#include "git/objectstore.h"
#include "review/git/deciding.h"
#include "review/git/merge/merge.h"
#include "session/session.h"
#include "sys/attr.h"
#include "tree/content.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WORD	 "cannot deliver a merge"
#define EXECUTES 0100 /* all that git keeps of a mode */

void merging_tree_done(struct merging_tree *t)
{
	for (size_t i = 0; i < t->paths.n; i++)
		free(t->paths.list[i]);
	free(t->paths.list);
	for (size_t i = 0; i < t->n_files; i++)
		free((char *)(uintptr_t)t->files[i].change.path);
	free(t->files);
	for (size_t i = 0; i < t->n_dirs; i++)
		free(t->dirs[i].path);
	free(t->dirs);
	free(t->alone);
	*t = (struct merging_tree){ 0 };
}

static int no_memory(struct hb_error *err)
{
	return hb_fail(err, -ENOMEM, WORD);
}

static bool is_dir(const struct change *c)
{
	return c->new.type == ENTRY_DIR ||
	       (c->new.type == ENTRY_NONE && c->old.type == ENTRY_DIR);
}

/* The path from the work tree on; NULL: it is not in there, or not listed. */
static const char *path_in_tree(const struct merging_tree *t,
				const struct change *c)
{
	size_t n = strlen(t->d->below);

	if ((c->flags & (CHANGE_GIT | CHANGE_CARRIED)) || change_is_top(c) ||
	    strncmp(c->path, t->d->below, n) != 0)
		return NULL;
	return c->path + n;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, *(char *const *)b);
}

static bool is_changed(const struct merging_tree *t, const char *path)
{
	return t->paths.n > 0 && bsearch(path, t->paths.list, t->paths.n,
					 sizeof(char *), compare_names) != NULL;
}

static int by_path(const void *a, const void *b)
{
	const struct merged_file *x = a, *y = b;

	return strcmp(x->change.path, y->change.path);
}

static struct merged_file *find_file(const struct merging_tree *t,
				     const char *path)
{
	const struct merged_file key = { .change.path = path };

	return t->n_files == 0 ? NULL
			       : bsearch(&key, t->files, t->n_files,
					 sizeof(key), by_path);
}

/*
 * Of all that the box did to the tree, only paths count that differ between the
 * two commits.  A merge driver or a filter may have written others.
 */
static int load_files(struct merging_tree *t, struct hb_error *err)
{
	struct changes *changes = t->merge->changes[t->d->tree];
	struct change c;
	int r = changes_rewind(changes, err);

	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1) {
		const char *path = path_in_tree(t, &c);
		struct merged_file *file;

		if (!path || (is_dir(&c) && c.kind != CHANGE_DELETED) ||
		    c.kind == CHANGE_TIMES ||
		    (!is_dir(&c) && !is_changed(t, path)))
			continue;
		if (c.flags & CHANGE_CONFLICT) {
			hb_fix(err, "the same command once more");
			return hb_fail(err, -HB_E_CONFLICT,
				       "'%s' was changed while the merge was "
				       "made",
				       quoted(c.path));
		}
		if (grow(t->files, t->n_files) < 0)
			return no_memory(err);
		file = &t->files[t->n_files++];
		*file = (struct merged_file){ .change = c };
		file->change.path = strdup(c.path);
		if (!file->change.path)
			return no_memory(err);
	}
	if (r >= 0 && t->n_files > 0)
		qsort(t->files, t->n_files, sizeof(*t->files), by_path);
	return r;
}

/* Content of a file or target of a link; for the caller to free. */
static int read_object(const struct resource *resource, const struct change *c,
		       struct git_object *ret, struct hb_error *err)
{
	const struct content_place place = {
		.root = resource->layers[c->layer],
		.in_layer = true,
		.path = c->path,
		.entry = &c->new,
	};
	auto_fd int fd = -1;
	auto_free char *data = NULL;
	ssize_t n;

	if (c->new.size > DELIVERED_MAX)
		return hb_fail_at(err, -EFBIG, c->path, "cannot merge");
	data = malloc(
		(c->new.type == ENTRY_LINK ? PATH_MAX : (size_t)c->new.size) +
		1);
	if (!data)
		return no_memory(err);
	if (c->new.type == ENTRY_LINK) {
		n = content_target(&place, data, PATH_MAX, err);
	} else {
		fd = content_open(&place, err);
		n = fd < 0 ? fd
			   : sys_pread_full(fd, data, (size_t)c->new.size, 0);
	}
	if (n < 0)
		return hb_fail_at(err, (int)n, c->path, "cannot read");
	data[n] = '\0';
	*ret = (struct git_object){ .type = GIT_BLOB,
				    .data = take_ptr(&data),
				    .size = (size_t)n };
	return 0;
}

/* Whether the session has the very file of the merge: 1, 0. */
static int is_same(const struct merging_tree *t, const struct change *ours,
		   const struct change *merged, struct hb_error *err)
{
	struct git_object a = { 0 }, b = { 0 };
	int r;

	if (ours->new.type != merged->new.type)
		return 0;
	if (ours->new.type == ENTRY_NONE)
		return 1;
	if ((ours->new.type != ENTRY_FILE && ours->new.type != ENTRY_LINK) ||
	    ours->new.size != merged->new.size ||
	    ((ours->new.mode ^ merged->new.mode) & EXECUTES))
		return 0;
	r = read_object(&t->d->session->resources[t->d->tree], ours, &a, err);
	if (r >= 0)
		r = read_object(&t->merge->aside->resources[t->d->tree], merged,
				&b, err);
	if (r >= 0)
		r = a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
	free(a.data);
	free(b.data);
	return r;
}

/* The entry of a path in a commit: 1, or 0 if there is none. */
static int find_entry(struct objectstore *objects, const char *commit,
		      const char *path, struct git_id *ret_id,
		      enum gittree_mode *ret_mode)
{
	struct git_id id;
	int r = commit_tree(objects, commit, &id);

	while (r >= 0) {
		size_t n = strcspn(path, "/");
		struct git_object object = { 0 };
		struct gittree_entry entry;
		struct gittree tree;
		bool is_found = false;

		r = objectstore_read(objects, &id, OBJECTSTORE_TREE_MAX,
				     &object);
		if (r < 0)
			return r;
		gittree_open(&tree, &object, strlen(id.hex));
		while (!is_found && (r = gittree_next(&tree, &entry)) == 1)
			is_found = entry.name_len == n &&
				   memcmp(entry.name, path, n) == 0;
		if (is_found) {
			gittree_id(&tree, &entry, &id);
			*ret_mode = entry.mode;
		}
		free(object.data);
		if (!is_found || r < 0)
			return r < 0 ? r : 0;
		path += n;
		if (*path++ == '\0') {
			*ret_id = id;
			return 1;
		}
		if (*ret_mode != GITTREE_DIR)
			return 0;
	}
	return r;
}

/* Whether the session's commits have what it has there: 1, 0. */
static int is_committed(const struct merging_tree *t, const struct change *c,
			struct hb_error *err)
{
	const char *path = c->path + strlen(t->d->below);
	struct git_object object = { 0 };
	struct git_id id, own;
	enum gittree_mode mode;
	int r = find_entry(t->objects, t->repo->tip.hex, path, &id, &mode);

	if (r < 0)
		return hb_fail_at(err, r, c->path, "cannot merge");
	if (c->new.type == ENTRY_NONE || r == 0)
		return (c->new.type == ENTRY_NONE) == (r == 0);
	if (c->new.type != ENTRY_FILE && c->new.type != ENTRY_LINK)
		return 0;
	if ((mode == GITTREE_LINK) != (c->new.type == ENTRY_LINK) ||
	    (c->new.type == ENTRY_FILE &&
	     (mode == GITTREE_PROGRAM) != ((c->new.mode &EXECUTES) != 0)))
		return 0;
	r = read_object(&t->d->session->resources[t->d->tree], c, &object, err);
	if (r < 0)
		return r;
	git_object_name(&object, strlen(id.hex), &own);
	free(object.data);
	return git_id_is_same(&id, &own);
}

static int need_committed(const struct merging_tree *t, const struct change *c,
			  struct hb_error *err)
{
	int r = is_committed(t, c, err);

	if (r != 0)
		return r < 0 ? r : 0;
	hb_fix(err, "holdback exec @%s -- git commit -a, or --git=branch",
	       t->d->session->record.name);
	return hb_fail(err, -HB_E_CONFLICT,
		       "the session has changes that it did not commit at a "
		       "path of the merge: %s",
		       quoted(c->path));
}

static int add_settled(const struct merging_tree *t, const char *path,
		       struct hb_error *err)
{
	return delivered_add(&t->d->lists[t->d->tree], path, DELIVERED_SETTLED)
		       ? 0
		       : no_memory(err);
}

static int in_the_way(const char *path, struct hb_error *err)
{
	hb_fix(err, "move it away first, or --git=branch");
	return hb_fail(err, -HB_E_CONFLICT,
		       "a file that is in no commit of yours is in the way of "
		       "the merge: %s",
		       quoted(path));
}

/* Whether the merge removes the change's file below a directory, untold. */
static bool is_swept(const struct merging_tree *t, const struct change *c,
		     const char *dir)
{
	const char *path = path_in_tree(t, c);
	size_t n = strlen(dir);

	return path && strncmp(c->path, dir, n) == 0 && c->path[n] == '/' &&
	       c->new.type == ENTRY_NONE && !is_dir(c) && !is_changed(t, path);
}

/*
 * git takes an ignored file for a file to be lost, and a merge replaces it,
 * or a directory of such, without a word.  It is the user's, and in no commit.
 */
static int need_known(const struct merging_tree *t, const struct change *merged,
		      struct hb_error *err)
{
	struct changes *changes = t->merge->changes[t->d->tree];
	struct git_id id;
	enum gittree_mode mode;
	struct change c;
	int r;

	if (merged->old.type == ENTRY_NONE)
		return 0;
	r = find_entry(t->objects, t->repo->into.hex,
		       merged->path + strlen(t->d->below), &id, &mode);
	if (r < 0)
		return hb_fail_at(err, r, merged->path, "cannot merge");
	if (r == 0)
		return in_the_way(merged->path, err);
	if (merged->old.type != ENTRY_DIR)
		return 0;
	r = changes_rewind(changes, err);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		if (is_swept(t, &c, merged->path))
			return in_the_way(c.path, err);
	return r;
}

/* The base gets the merge's; it has to be as the merge found it. */
static int add_merged(const struct merging_tree *t, const struct change *c,
		      struct hb_error *err)
{
	bool is_gone = c->new.type == ENTRY_NONE;
	struct git_object object = { 0 };
	struct delivered_item *item;
	int r;

	if (!is_gone && c->new.type != ENTRY_FILE && c->new.type != ENTRY_LINK)
		return hb_fail(err, -HB_E_CONFLICT,
			       "the merge made no file of '%s'",
			       quoted(c->path));
	r = need_known(t, c, err);
	if (r >= 0 && !is_gone)
		r = read_object(&t->merge->aside->resources[t->d->tree], c,
				&object, err);
	if (r < 0)
		return r;
	item = delivered_add(&t->d->lists[t->d->tree], c->path,
			     is_gone ? DELIVERED_GONE : DELIVERED_MADE);
	if (!item) {
		free(object.data);
		return no_memory(err);
	}
	item->data = object.data;
	item->size = object.size;
	item->is_tree = true;
	item->is_link = c->new.type == ENTRY_LINK;
	item->mode = c->new.mode;
	item->old = c->old;
	item->has_old = true;
	return 0;
}

static int compare_dirs(const void *a, const void *b)
{
	return strcmp(a, ((const struct merging_dir *)b)->path);
}

/* All directories of the session's that the path is in. */
static void mark_dirs(struct merging_tree *t, const char *path, bool is_settled)
{
	char dir[PATH_MAX];

	for (size_t i = 0; i < sizeof(dir) && path[i]; i++) {
		struct merging_dir *found;

		if (path[i] != '/')
			continue;
		memcpy(dir, path, i);
		dir[i] = '\0';
		found = t->n_dirs == 0
				? NULL
				: bsearch(dir, t->dirs, t->n_dirs,
					  sizeof(*t->dirs), compare_dirs);
		if (found && is_settled)
			found->has_settled = true;
		else if (found)
			found->has_other = true;
	}
}

/* Whether the session removed a directory around it, and the merge did not. */
static bool is_in_kept(const struct merging_tree *t, const struct change *c)
{
	if (!(c->flags & CHANGE_IN_GONE))
		return false;
	for (size_t i = 0; i < t->n_dirs; i++) {
		size_t n = strlen(t->dirs[i].path);

		if (t->dirs[i].is_gone &&
		    strncmp(c->path, t->dirs[i].path, n) == 0 &&
		    c->path[n] == '/')
			return true;
	}
	return false;
}

/* The gate did not see it as it is going to be. */
static int add_asked(struct merging_tree *t, const struct change *merged,
		     struct hb_error *err)
{
	if (grow(t->alone, t->n_alone) < 0)
		return no_memory(err);
	t->alone[t->n_alone++] = (char *)(uintptr_t)merged->path;
	return 0;
}

/* A file that the session changed. */
static int judge_file(struct merging_tree *t, const struct change *c,
		      const char *path, struct hb_error *err)
{
	struct merged_file *merged = find_file(t, c->path);
	bool is_kept = is_in_kept(t, c);
	/* The user's later file is not there only because its directory is not.
	 */
	bool is_ours = delivery_stays(t->before, path) ||
		       (is_kept && (c->flags & CHANGE_CONFLICT));
	int r;

	if (merged)
		merged->is_used = true;
	if (!merged && !is_ours) {
		mark_dirs(t, c->path, false);
		return 0;
	}
	r = merged && !is_kept && !(c->flags & CHANGE_CONFLICT)
		    ? is_same(t, c, &merged->change, err)
		    : 0;
	if (r != 0) {
		mark_dirs(t, c->path, false);
		return r < 0 ? r : 0;
	}
	r = need_committed(t, c, err);
	if (r < 0)
		return r;
	mark_dirs(t, c->path, !merged || merged->change.new.type == ENTRY_NONE);
	if (!merged)
		return add_settled(t, c->path, err);
	r = add_merged(t, &merged->change, err);
	return r < 0 ? r : add_asked(t, &merged->change, err);
}

static int by_dir(const void *a, const void *b)
{
	const struct merging_dir *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Those that the session made, or removed where the merge does not. */
static int load_dirs(struct merging_tree *t, struct changes *changes,
		     struct hb_error *err)
{
	struct change c;
	int r = changes_rewind(changes, err);

	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1) {
		struct merged_file *merged = find_file(t, c.path);
		struct merging_dir *dir;

		if (merged && is_dir(&merged->change))
			merged->is_used = true;
		if (!path_in_tree(t, &c) || !is_dir(&c) ||
		    (c.kind != CHANGE_ADDED && c.kind != CHANGE_DELETED) ||
		    (merged && is_dir(&merged->change)))
			continue;
		if (grow(t->dirs, t->n_dirs) < 0)
			return no_memory(err);
		dir = &t->dirs[t->n_dirs++];
		*dir = (struct merging_dir){
			.path = strdup(c.path),
			.is_gone = c.kind == CHANGE_DELETED,
		};
		if (!dir->path)
			return no_memory(err);
	}
	if (r >= 0 && t->n_dirs > 0)
		qsort(t->dirs, t->n_dirs, sizeof(*t->dirs), by_dir);
	return r;
}

static int judge_dirs(const struct merging_tree *t, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < t->n_dirs; i++)
		if (t->dirs[i].has_settled && !t->dirs[i].has_other)
			r = add_settled(t, t->dirs[i].path, err);
	return r;
}

/* The merge alone has these: the user renamed a file, or a directory. */
static int add_alone(struct merging_tree *t, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < t->n_files; i++) {
		const struct change *merged = &t->files[i].change;

		if (t->files[i].is_used || is_dir(merged))
			continue;
		mark_dirs(t, merged->path, false);
		r = add_merged(t, merged, err);
		if (r >= 0)
			r = add_asked(t, merged, err);
	}
	return r < 0 || t->n_alone == 0
		       ? r
		       : t->merge->judge(t->merge, t->d->tree, t->alone,
					 t->n_alone, err);
}

int merging_tree_add(struct merging_tree *t, struct changes *const *changes,
		     struct hb_error *err)
{
	struct changes *ours = changes[t->d->tree];
	struct change c;
	int r = load_files(t, err);

	if (r >= 0)
		r = load_dirs(t, ours, err);
	if (r >= 0)
		r = changes_rewind(ours, err);
	while (r >= 0 && (r = changes_next(ours, &c, err)) == 1) {
		const char *path = path_in_tree(t, &c);

		if (path && !is_dir(&c) && c.kind != CHANGE_TIMES)
			r = judge_file(t, &c, path, err);
	}
	if (r >= 0)
		r = add_alone(t, err);
	if (r >= 0)
		r = judge_dirs(t, err);
	return r < 0 ? r : changes_rewind(ours, err);
}
