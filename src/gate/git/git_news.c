/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/git/git_news.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/resource.h"
#include "gate/git/index_news.h"
#include "gate/git/once.h"
#include "gate/git/repos.h"
#include "git/ancestry.h"
#include "git/objectstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS	    "cannot look into the repository"
#define OLD_MAX	    4096 /* references that a walk begins at */
#define PARENTS_MAX 16	 /* of a merge: a path equal to any later one is told */
#define KEY_MAX	    ((size_t)8192)

/* A reference that is new, or is another commit than before. */
struct tip {
	const char *name;
	struct git_id new;
	const struct git_id *old; /* NULL: it is new */
};

/* Why not all was looked at; each is told once. */
enum unread {
	UNREAD_MUCH,
	UNREAD_MISSING,
	UNREAD_MALFORMED,
	UNREADS
};

static const char *const unread_words[] = {
	[UNREAD_MUCH] = "there is too much in it to look at all",
	[UNREAD_MISSING] = "objects of it are missing",
	[UNREAD_MALFORMED] = "objects of it cannot be understood",
};

struct history {
	const struct history_request *request;
	struct gitrefs old, new;
	struct tip *tips;
	size_t n_tips;
	struct objectstore *objects;
	struct treediff diff;
	struct once seen;
	bool is_told[UNREADS];
	bool is_shallow;
	struct buf key;

	/* The comparison at hand. */
	const char *ref, *commit;
	const struct once *others; /* paths that differ from other parents */
	size_t n_others;
	struct hb_error *err;
};

static int fail(struct hb_error *err, int r)
{
	return hb_fail(err, r, WORDS);
}

static int tell_unread(struct history *h, enum unread why)
{
	const struct history_request *q = h->request;

	if (h->is_told[why])
		return 0;
	h->is_told[why] = true;
	return q->unread(q->ctx, unread_words[why], h->ref, h->commit, h->err);
}

/* What a failure to read means; a code that ends the gate stays one. */
static int pass_over(struct history *h, int r)
{
	switch (r) {
	case -EFBIG:
		return tell_unread(h, UNREAD_MUCH);
	case -ENOENT:
		return tell_unread(h, UNREAD_MISSING);
	case -EBADMSG:
		return tell_unread(h, UNREAD_MALFORMED);
	case -ENOMEM:
		return fail(h->err, r);
	default:
		return r;
	}
}

static int look_at(struct history *h, const struct history_entry *entry)
{
	const struct history_request *q = h->request;
	int r;

	/* What goes is told by what it was. */
	buf_cut(&h->key, 0);
	(void)buf_add_fmt(&h->key, "%o %s%s %d ", (unsigned)entry->new.mode,
			  entry->new.id.hex,
			  entry->new.mode ? "" : entry->old.id.hex,
			  entry->is_hidden);
	(void)buf_add_str(&h->key, entry->path);
	if (h->key.error)
		return fail(h->err, h->key.error);
	r = once_add(&h->seen, h->key.data, h->key.len);
	if (r < 0)
		return fail(h->err, r);
	return r == 0 ? 0 : q->look(q->ctx, entry, h->objects, h->err);
}

/* Of type treediff_fn. */
static int note_path(void *ctx, const struct treediff_change *c)
{
	int r = once_add(ctx, c->path, strlen(c->path));

	return r < 0 ? r : 0;
}

/* Likewise.  A path as another parent has it came from there. */
static int look_at_change(void *ctx, const struct treediff_change *c)
{
	struct history *h = ctx;
	const struct history_entry entry = { .path = c->path,
					     .old = c->old,
					     .new = c->new,
					     .commit = h->commit,
					     .ref = h->ref };

	for (size_t i = 0; i < h->n_others; i++)
		if (!once_has(&h->others[i], c->path, strlen(c->path)))
			return 0;
	return look_at(h, &entry);
}

/* A comparison has come to this result. */
static int end(struct history *h, int r)
{
	r = pass_over(h, r);
	return r < 0 ? r : h->request->end(h->request->ctx, h->err);
}

static int compare_trees(struct history *h, const struct git_id *old,
			 const struct git_id *new)
{
	return end(h, treediff_run(&h->diff, old, new, look_at_change, h));
}

/* The tree of a commit, and its parents in the object if that is wanted. */
static int read_commit(struct history *h, const struct git_id *id,
		       struct git_object *ret_object,
		       struct git_commit *ret_commit)
{
	int r = objectstore_read(h->objects, id, OBJECTSTORE_COMMIT_MAX,
				 ret_object);

	return r < 0 ? r : git_commit_parse(ret_object, ret_commit);
}

static int read_tree_of(struct history *h, const struct git_id *id,
			struct git_id *ret_tree)
{
	struct git_object object = { 0 };
	struct git_commit commit;
	int r = read_commit(h, id, &object, &commit);

	if (r >= 0)
		*ret_tree = commit.tree;
	free(object.data);
	return r;
}

/*
 * With several parents, what is told differs from each of them.  A parent that
 * is not there (of a shallow clone) is none; without any it is what the
 * reference was before.
 */
static int compare_with_parents(struct history *h, const struct tip *tip,
				const struct git_commit *commit)
{
	struct once others[PARENTS_MAX];
	struct git_id id, tree, first;
	const char *at = commit->parents;
	bool has_first = false;
	size_t n = 0;
	int r = 0;

	while (r >= 0 && n < PARENTS_MAX && git_commit_parent(&at, &id)) {
		r = read_tree_of(h, &id, &tree);
		if (r == -ENOENT || r == -EBADMSG) {
			r = 0;
			continue;
		}
		if (r >= 0 && !has_first) {
			first = tree;
			has_first = true;
			continue;
		}
		if (r >= 0)
			r = once_init(&others[n++]);
		if (r >= 0)
			r = treediff_run(&h->diff, &tree, &commit->tree,
					 note_path, &others[n - 1]);
	}
	if (r >= 0 && !has_first && tip->old && at != commit->parents)
		has_first = read_tree_of(h, tip->old, &first) >= 0;
	h->others = others;
	h->n_others = n;
	r = r < 0 ? pass_over(h, r)
		  : compare_trees(h, has_first ? &first : NULL, &commit->tree);
	h->others = NULL;
	h->n_others = 0;
	for (size_t i = 0; i < n; i++)
		once_done(&others[i]);
	return r;
}

/* A reference to a tree is one of everything in it. */
static int look_at_commit(struct history *h, const struct ancestry_item *item)
{
	struct git_object object = { 0 };
	struct git_commit commit;
	int r;

	/* What is behind the boundary is not here, and comes out of nowhere. */
	if (item->is_missing && h->is_shallow)
		return 0;
	h->ref = h->tips[item->tip].name;
	h->commit = item->id.hex;
	r = objectstore_read(h->objects, &item->id, OBJECTSTORE_TREE_MAX,
			     &object);
	if (r >= 0 && object.type == GIT_TREE) {
		r = compare_trees(h, NULL, &item->id);
	} else {
		if (r >= 0)
			r = git_commit_parse(&object, &commit);
		r = r < 0 ? pass_over(h, r)
			  : compare_with_parents(h, &h->tips[item->tip],
						 &commit);
	}
	free(object.data);
	return r;
}

static int look_at_commits(struct history *h)
{
	auto_free struct git_id *old = NULL;
	auto_free struct git_id *new = NULL;
	auto_ancestry struct ancestry found = { 0 };
	const struct gitrefs *before[] = { &h->request->repo->known, &h->old };
	size_t n = 0;
	int r;

	for (size_t i = 0; i < h->n_tips; i++) {
		if (grow(new, i) < 0)
			return fail(h->err, -ENOMEM);
		new[i] = h->tips[i].new;
	}
	for (size_t k = 0; k < sizeof(before) / sizeof(before[0]); k++)
		for (size_t i = 0; i < before[k]->n && n < OLD_MAX; i++) {
			if (!before[k]->refs[i].id.hex[0])
				continue;
			if (grow(old, n) < 0)
				return fail(h->err, -ENOMEM);
			old[n++] = before[k]->refs[i].id;
		}
	r = ancestry_find(h->objects, new, h->n_tips, old, n, &found);
	if (r < 0)
		return pass_over(h, r);
	/* The oldest first: that is where a thing comes from. */
	for (size_t i = found.n; r >= 0 && i > 0; i--)
		r = look_at_commit(h, &found.items[i - 1]);
	return r;
}

static int look_at_tip(struct history *h, const struct tip *tip)
{
	struct git_id old, new;
	int r;

	h->ref = tip->name;
	h->commit = tip->new.hex;
	/* A tag, or what was told already as missing. */
	if (!tip->old || read_tree_of(h, tip->old, &old) < 0)
		return 0;
	r = read_tree_of(h, &tip->new, &new);
	return r < 0 ? 0 : compare_trees(h, &old, &new);
}

static int add_tip(struct history *h, const char *name,
		   const struct git_id *new, const struct git_id *old)
{
	if (grow(h->tips, h->n_tips) < 0)
		return fail(h->err, -ENOMEM);
	h->tips[h->n_tips++] = (struct tip){ name, *new, old };
	return 0;
}

static int find_tips(struct history *h)
{
	struct repo *repo = h->request->repo;
	const struct gitrefs *stashed = &repo->stashed;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < h->new.n; i++) {
		const struct gitref *new = &h->new.refs[i];
		const struct gitref *old = gitrefs_find(&h->old, new->name);

		if (!old || !git_id_is_same(&old->id, &new->id))
			r = add_tip(h, new->name, &new->id,
				    old ? &old->id : NULL);
	}
	for (size_t i = 0; r >= 0 && i < stashed->n; i++)
		r = add_tip(h, stashed->refs[i].name, &stashed->refs[i].id,
			    NULL);
	return r;
}

static void note_shallow(struct history *h, int root)
{
	auto_free char *text = NULL;

	h->is_shallow |=
		gitref_read_file(root, h->request->repo->prefix, "shallow",
				 GITREFS_PACKED_MAX, &text) >= 0;
}

static int open_objects(struct history *h)
{
	const struct resource *resource = h->request->resource;

	for (size_t i = 0; i < resource->n_layers; i++)
		note_shallow(h, resource->layers[i]);
	note_shallow(h, resource->base);
	return h->request->objects(resource, h->request->repo->prefix,
				   &h->objects);
}

static int prepare(struct history *h)
{
	struct repo *repo = h->request->repo;
	const struct gitrefs_session session = {
		.touched = &repo->touched,
		.heads = &repo->heads,
		.packed = repo->packed,
		.has_packed = repo->has_packed,
	};
	int r;

	gitrefs_sort(&repo->touched);
	gitrefs_sort(&repo->heads);
	r = gitrefs_sides(&session, h->request->resource->base, repo->prefix,
			  &h->old, &h->new);
	if (r >= 0)
		r = open_objects(h);
	if (r < 0)
		return r;
	h->diff = (struct treediff){ .read = treediff_read,
				     .ctx = h->objects,
				     .n_paths = TREEDIFF_PATHS,
				     .n_trees = TREEDIFF_TREES };
	return find_tips(h);
}

/* Of type index_news_fn. */
static int look_at_index_entry(void *ctx, const struct index_news *news)
{
	struct history *h = ctx;
	const struct history_entry entry = { .path = news->path,
					     .old = news->old,
					     .new = news->new,
					     .ref = h->ref,
					     .is_hidden = news->is_hidden };

	if (h->diff.n_paths == 0)
		return -EFBIG;
	h->diff.n_paths--;
	return look_at(h, &entry);
}

static int look_at_indexes(struct history *h)
{
	const struct repo *repo = h->request->repo;
	int r = 0;

	h->commit = NULL;
	for (size_t i = 0; r >= 0 && i < repo->n_indexes; i++) {
		const struct repo_index *index = &repo->indexes[i];
		const struct index_news_request request = {
			.old = index->old,
			.new = index->new,
			.old_size = index->old_size,
			.new_size = index->new_size,
		};

		h->ref = index->path;
		r = end(h, index_news(&request, look_at_index_entry, h));
	}
	return r;
}

int history_look(const struct history_request *request, struct hb_error *err)
{
	struct history h = { .request = request,
			     .key = BUF_INIT(KEY_MAX),
			     .err = err };
	int r = once_init(&h.seen);

	if (r >= 0 && request->repo->unread)
		r = request->unread(request->ctx, request->repo->unread, NULL,
				    NULL, err);
	if (r >= 0)
		r = pass_over(&h, prepare(&h));
	if (r >= 0 && h.n_tips > 0)
		r = look_at_commits(&h);
	for (size_t i = 0; r >= 0 && i < h.n_tips; i++)
		r = look_at_tip(&h, &h.tips[i]);
	if (r >= 0)
		r = look_at_indexes(&h);
	gitrefs_done(&h.old);
	gitrefs_done(&h.new);
	objectstore_free(h.objects);
	once_done(&h.seen);
	free(h.tips);
	buf_done(&h.key);
	return r < 0 ? r : 0;
}
