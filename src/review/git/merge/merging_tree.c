/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/merging_tree.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "changes/git/delivered.h"
#include "git/delivery/commit_tree.h"
#include "git/objectstore.h"
#include "review/git/deciding.h"
#include "review/git/merge/merge.h"
#include "review/git/merge/own_files.h"
#include "session/session.h"
#include "sys/attr.h"
#include "tree/compare.h"
#include "tree/content.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WORD	 "cannot deliver a merge"
#define EXECUTES 0100 /* all that git keeps of a mode */

void merging_tree_done(struct merging_tree *t)
{
	path_list_done(&t->paths);
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

static int in_the_way(const char *path, struct hb_error *err)
{
	hb_fix(err, "move it away first, or --git=branch");
	return hb_fail(err, -HB_E_CONFLICT,
		       "a file that is in no commit of yours is in the way of "
		       "the merge: %s",
		       quoted(path));
}

/* git makes a file again that the user deleted and did not commit so. */
static int need_not_deleted(const struct merging_tree *t,
			    const struct change *merged, const char *path,
			    struct hb_error *err)
{
	enum gittree_mode mode;
	struct git_id id;
	int r;

	if (!t->repo->is_own || is_dir(merged) ||
	    merged->old.type != ENTRY_NONE)
		return 0;
	r = commit_tree_entry(t->objects, t->repo->into.hex, path, &id, &mode);
	if (r < 0)
		return hb_fail_at(err, r, merged->path, "cannot merge");
	if (r == 0)
		return 0;
	hb_fix(err, "commit your deletion, or git restore it");
	return hb_fail(err, -HB_E_CONFLICT,
		       "you deleted a file that the merge changes: %s",
		       quoted(merged->path));
}

/* The session does not track the file any more, and did not remove it. */
static bool is_staying(const struct merging_tree *t, const struct change *c)
{
	return c->new.type ==
	       ENTRY_NONE &&path_list_has(&t->repo->stays, c->path);
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
		    (!is_dir(&c) && !path_list_has(&t->paths, path)) ||
		    is_staying(t, &c))
			continue;
		if (c.flags & CHANGE_CONFLICT) {
			hb_fix(err, "the same command once more");
			return hb_fail(err, -HB_E_CONFLICT,
				       "'%s' was changed while the merge was "
				       "made",
				       quoted(c.path));
		}
		r = need_not_deleted(t, &c, path, err);
		if (r < 0)
			return r;
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

	if (c->new.size > DELIVERED_MAX) {
		hb_fix(err, "make the merge in the session: git merge there");
		return hb_fail(err, -HB_E_CONFLICT,
			       "'%s' is too large to be merged",
			       quoted(c->path));
	}
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

static int digest(const struct resource *resource, const struct change *c,
		  uint8_t ret[SHA256_SIZE], struct hb_error *err)
{
	const struct content_place place = {
		.root = resource->layers[c->layer],
		.in_layer = true,
		.path = c->path,
		.entry = &c->new,
	};
	struct content_dir dir = { .fd = -1 };
	const char *name = NULL;
	int left, r = content_enter(&place, &dir, &name, err);

	if (r >= 0)
		r = side_content(&(struct side){ dir.fd, name, &c->new, true },
				 ret, err);
	left = content_leave(&dir, r < 0 ? NULL : err);
	return r < 0 ? r : left;
}

/* Whether the session has the very file of the merge: 1, 0. */
static int is_same(const struct merging_tree *t, const struct change *ours,
		   const struct change *merged, struct hb_error *err)
{
	uint8_t a[SHA256_SIZE], b[SHA256_SIZE];
	int r;

	if (ours->new.type != merged->new.type)
		return 0;
	if (ours->new.type == ENTRY_NONE)
		return 1;
	if ((ours->new.type != ENTRY_FILE && ours->new.type != ENTRY_LINK) ||
	    ours->new.size != merged->new.size ||
	    ((ours->new.mode ^ merged->new.mode) & EXECUTES))
		return 0;
	r = digest(&t->d->session->resources[t->d->tree], ours, a, err);
	if (r >= 0)
		r = digest(&t->merge->aside->resources[t->d->tree], merged, b,
			   err);
	return r < 0 ? r : memcmp(a, b, sizeof(a)) == 0;
}

/* Whether the session's commits have what it has there: 1, 0. */
static int is_committed(const struct merging_tree *t, const struct change *c,
			struct hb_error *err)
{
	const char *path = c->path + strlen(t->d->below);
	struct git_object object = { 0 };
	struct git_id id, own;
	enum gittree_mode mode;
	int r = commit_tree_entry(t->objects, t->repo->tip.hex, path, &id,
				  &mode);

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
	int r = t->repo->is_own ? 0 : is_committed(t, c, err);

	if (r != 0)
		return r < 0 ? r : 0;
	if (t->repo->is_own)
		hb_fix(err, "holdback rollback @%s %s, or move it in there",
		       t->d->session->record.name, quoted(c->path));
	else
		hb_fix(err,
		       "holdback exec @%s -- git commit -a, or --git=branch",
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

/* Whether the merge removes the change's file below a directory, untold. */
static bool is_swept(const struct merging_tree *t, const struct change *c,
		     const char *dir)
{
	const char *path = path_in_tree(t, c);
	size_t n = strlen(dir);

	return path && strncmp(c->path, dir, n) == 0 && c->path[n] == '/' &&
	       c->new.type == ENTRY_NONE && !is_dir(c) &&
	       !path_list_has(&t->paths, path);
}

/* A file where the user has a directory, with files in no commit. */
static int need_unswept(const struct merging_tree *t,
			const struct change *merged, struct hb_error *err)
{
	struct changes *changes = t->merge->changes[t->d->tree];
	struct change c;
	int r = 0;

	if (merged->old.type != ENTRY_DIR)
		return 0;
	r = changes_rewind(changes, err);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		if (is_swept(t, &c, merged->path))
			return in_the_way(c.path, err);
	return r;
}

/*
 * git takes an ignored file for a file to be lost, and a merge replaces it,
 * or a directory of such, without a word.  It is the user's, and in no commit.
 */
static int need_known(const struct merging_tree *t, const struct change *merged,
		      struct hb_error *err)
{
	struct git_id id;
	enum gittree_mode mode;
	int r;

	if (merged->old.type == ENTRY_NONE)
		return 0;
	r = commit_tree_entry(t->objects, t->repo->into.hex,
			      merged->path + strlen(t->d->below), &id, &mode);
	if (r < 0)
		return hb_fail_at(err, r, merged->path, "cannot merge");
	if (r == 0)
		return in_the_way(merged->path, err);
	return need_unswept(t, merged, err);
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
	if (r >= 0)
		r = own_file_guard(t, c->path, &c->old, err);
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

/*
 * Whether only a merge may bring it: 1, 0.  On a branch of its own that is
 * each path that one side's commits have.  Attributes that git does not know go
 * by the usual rules, as untracked files do.
 */
static int is_of_commits(const struct merging_tree *t, const struct change *c,
			 const char *path, struct hb_error *err)
{
	enum gittree_mode mode;
	struct git_id id;
	int r;

	if (!t->repo->is_own)
		return delivery_stays(t->before, path);
	if (c->kind == CHANGE_ATTRIBUTES &&
	    !((c->new.mode ^ c->old.mode) & EXECUTES))
		return 0;
	r = commit_tree_entry(t->objects, t->repo->tip.hex, path, &id, &mode);
	if (r == 0)
		r = commit_tree_entry(t->objects, t->repo->into.hex, path, &id,
				      &mode);
	return r < 0 ? hb_fail_at(err, r, c->path, "cannot merge") : r;
}

/* As the merge has it, or as the base if the merge has that. */
static int add_other(struct merging_tree *t, const struct change *c,
		     const struct merged_file *merged, struct hb_error *err)
{
	int r;

	mark_dirs(t, c->path, !merged || merged->change.new.type == ENTRY_NONE);
	if (!merged)
		return add_settled(t, c->path, err);
	r = add_merged(t, &merged->change, err);
	return r < 0 ? r : add_asked(t, &merged->change, err);
}

/*
 * The same on a branch of its own.  What git ignores is in no commit, and stays
 * pending.
 */
static int judge_own(struct merging_tree *t, const struct change *c,
		     const struct merged_file *merged, bool is_ours,
		     bool is_kept, struct hb_error *err)
{
	bool is_taken = path_list_has(&t->repo->taken, c->path) &&
			!path_list_has(&t->repo->ignored, c->path);
	bool is_ignored = c->flags & CHANGE_IGNORED && !is_taken;
	struct own_file file = { 0 };
	int r;

	if (!merged && (!is_ours || is_ignored)) {
		mark_dirs(t, c->path, false);
		return is_ignored ? 0
				  : own_file_guard(t, c->path, &c->old, err);
	}
	r = is_taken ? own_file_look(t, c, &file, err)
		     : need_committed(t, c, err);
	if (r < 0)
		return r;
	if (file.is_result && !is_kept && !(c->flags & CHANGE_CONFLICT)) {
		mark_dirs(t, c->path, false);
		r = merged ? need_unswept(t, &merged->change, err) : 0;
		return r < 0 ? r : own_file_guard(t, c->path, &c->old, err);
	}
	r = own_file_need_raw(t, c, &file, err);
	return r < 0 ? r : add_other(t, c, merged, err);
}

/* A file that the session changed. */
static int judge_file(struct merging_tree *t, const struct change *c,
		      const char *path, struct hb_error *err)
{
	struct merged_file *merged = find_file(t, c->path);
	bool is_kept = is_in_kept(t, c);
	/* The user's later file is not there only because its directory is not.
	 */
	int r = is_of_commits(t, c, path, err);
	bool is_ours = r > 0 || (is_kept && (c->flags & CHANGE_CONFLICT));

	if (r < 0)
		return r;
	/* The session began so, and ends that: the user's stays. */
	if (c->flags & CHANGE_BEGUN) {
		mark_dirs(t, c->path, true);
		return merged ? 0 : add_settled(t, c->path, err);
	}
	if (merged)
		merged->is_used = true;
	if (t->repo->is_own)
		return judge_own(t, c, merged, is_ours, is_kept, err);
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
	return add_other(t, c, merged, err);
}

static int by_dir(const void *a, const void *b)
{
	const struct merging_dir *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* By the session, or by its beginning where the user has a file. */
static bool is_made(const struct change *c)
{
	return c->kind == CHANGE_ADDED || c->kind == CHANGE_DELETED ||
	       (c->kind == CHANGE_TYPE && c->flags & CHANGE_BEGUN);
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
		if (!path_in_tree(t, &c) || !is_dir(&c) || !is_made(&c) ||
		    (merged && is_dir(&merged->change)))
			continue;
		if (grow(t->dirs, t->n_dirs) < 0)
			return no_memory(err);
		dir = &t->dirs[t->n_dirs++];
		*dir = (struct merging_dir){
			.path = strdup(c.path),
			.is_gone = c.kind == CHANGE_DELETED,
			.is_over = c.kind == CHANGE_TYPE,
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

	for (size_t i = 0; r >= 0 && i < t->n_dirs; i++) {
		if (t->dirs[i].is_over && t->dirs[i].has_other)
			return in_the_way(t->dirs[i].path, err);
		if (t->dirs[i].has_settled && !t->dirs[i].has_other)
			r = add_settled(t, t->dirs[i].path, err);
	}
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

/*
 * git removes a file where the session has a directory, and knows no empty one.
 * The session's own change does both.
 */
static void use_dir(const struct merging_tree *t, const struct change *c)
{
	struct merged_file *merged = find_file(t, c->path);

	if (c->kind == CHANGE_TYPE && merged &&
	    merged->change.new.type == ENTRY_NONE)
		merged->is_used = true;
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

		if (path && !is_dir(&c) &&
		    (c.kind != CHANGE_TIMES || c.flags & CHANGE_BEGUN))
			r = judge_file(t, &c, path, err);
		else if (path && is_dir(&c))
			use_dir(t, &c);
	}
	if (r >= 0)
		r = add_alone(t, err);
	if (r >= 0)
		r = judge_dirs(t, err);
	return r < 0 ? r : changes_rewind(ours, err);
}
