/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/merging.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "changes/begun/begun.h"
#include "changes/git/delivered.h"
#include "git/delivery/commit_tree.h"
#include "git/delivery/values.h"
#include "git/objectstore.h"
#include "git/treediff.h"
#include "review/git/deciding.h"
#include "review/git/merge/merge.h"
#include "review/git/merge/merging_tree.h"
#include "review/git/merge/staged.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD	  "cannot deliver a merge"
#define PATHS_MAX ((uint64_t)1000000)

/*
 * The decision is made once more, about another session.  It has the files of
 * ours, and over them the few files of the git directory that a merge writes.
 * Its branch contains the user's, so it is moved forward.
 */

/* Both units; strings are borrowed from them. */
struct both {
	struct unit unit;
	struct resource resource;
};

static bool begins_with(const char *path, const char *with)
{
	return strncmp(path, with, strlen(with)) == 0;
}

static bool is_object(const char *path)
{
	return begins_with(path, "objects/");
}

/* The file of the workspace's own desk, by its name in that. */
static bool is_of_desk(const struct deciding *d, const char *path,
		       const char *name)
{
	size_t n = strlen(d->desk);

	if (n > 0 && (!begins_with(path, d->desk) || path[n++] != '/'))
		return false;
	return strcmp(path + n, name) == 0;
}

/* The branch that the session is on, and its log: none of the user's. */
static bool is_own_branch(const struct merge_repo *repo, const char *path)
{
	if (begins_with(path, "logs/"))
		path += strlen("logs/");
	return repo->is_own && begins_with(path, "refs/heads/") &&
	       strcmp(path + strlen("refs/heads/"), repo->branch) == 0;
}

/* The user's HEAD stays, and the index is that of the merge. */
static bool is_left_behind(const struct deciding *d, const char *path)
{
	return is_of_desk(d, path, "HEAD") || is_of_desk(d, path, "index") ||
	       is_of_desk(d, path, "logs/HEAD");
}

/* What a merge writes; the branch of the script is none of it. */
static bool is_of_merge(const struct deciding *d, const struct merge_repo *repo,
			const char *path)
{
	static const char *const above[] = { "refs/heads/",
					     "logs/refs/heads/" };

	for (size_t i = 0; i < 2; i++)
		if (begins_with(path, above[i]))
			return strcmp(path + strlen(above[i]), repo->branch) !=
			       0;
	return is_object(path) || is_left_behind(d, path) ||
	       is_of_desk(d, path, "ORIG_HEAD");
}

static int by_path(const void *a, const void *b)
{
	const struct unit_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int lay_units(struct both *both, const struct deciding *d,
		     const struct merge_repo *repo, const struct unit *merged)
{
	size_t top = d->resource->n_layers;
	struct unit *u = &both->unit;

	*u = *d->unit;
	u->n = 0;
	u->files = calloc(d->unit->n + merged->n + 1, sizeof(*u->files));
	if (!u->files)
		return -ENOMEM;
	for (size_t i = 0; i < d->unit->n; i++) {
		const struct unit_file *f = &d->unit->files[i];
		bool is_merged = unit_find(merged, f->path) &&
				 is_of_merge(d, repo, f->path);

		if (is_own_branch(repo, f->path))
			continue;
		if (is_object(f->path) ||
		    (!is_left_behind(d, f->path) && !is_merged))
			u->files[u->n++] = *f;
	}
	for (size_t i = 0; i < merged->n; i++) {
		const struct unit_file *f = &merged->files[i];

		if (!is_of_merge(d, repo, f->path) ||
		    (is_object(f->path) && unit_find(d->unit, f->path)))
			continue;
		u->files[u->n] = *f;
		u->files[u->n++].layer = top;
	}
	qsort(u->files, u->n, sizeof(*u->files), by_path);
	return 0;
}

static int lay_layers(struct both *both, const struct deciding *d,
		      const struct resource *merged)
{
	size_t n = d->resource->n_layers;

	both->resource = *d->resource;
	both->resource.layers = calloc(n + 1, sizeof(int));
	if (!both->resource.layers)
		return -ENOMEM;
	memcpy(both->resource.layers, d->resource->layers, n * sizeof(int));
	both->resource.layers[n] = merged->upper;
	both->resource.n_layers = n + 1;
	return 0;
}

static int changed_meanwhile(struct hb_error *err)
{
	hb_fix(err, "the same command once more");
	return hb_fail(err, -HB_E_CONFLICT,
		       "the repository was changed while the merge was made");
}

/* Why it is not the result that was asked for. */
static int no_result(const struct delivery *delivery, bool is_own,
		     struct hb_error *err)
{
	if (delivery->verdict != DELIVERY_WAITS || delivery->n_held == 0)
		return changed_meanwhile(err);
	hb_fix(err, is_own ? "commit --ignored, which takes it along"
			   : "take it along, or --git=branch");
	return hb_fail(err, -HB_E_CONFLICT,
		       "left out, but in the session's commits: %s",
		       quoted(delivery->held[0]));
}

/* Files of ours that the merge leaves without a meaning. */
static int settle_left(const struct deciding *d, const struct unit *both,
		       struct hb_error *err)
{
	for (size_t i = 0; i < d->unit->n; i++) {
		const struct unit_file *f = &d->unit->files[i];
		struct delivered_item *item;

		if (unit_find(both, f->path))
			continue;
		item = delivered_add(&d->lists[d->unit->resource], f->whole,
				     DELIVERED_SETTLED);
		if (!item)
			return hb_fail(err, -ENOMEM, WORD);
		item->turn = begins_with(f->path, "logs/") ||
					     strstr(f->path, "/logs/")
				     ? TURN_LOGS
				     : TURN_REFS;
	}
	return 0;
}

struct finding {
	struct path_list *paths;
	struct staged staged; /* by the user */
	char *against;	      /* a path that has something else staged */
};

static bool is_staged(const struct staged_entry *entry,
		      const struct treediff_side *side)
{
	return entry->mode == side->mode &&
	       git_id_is_same(&entry->id, &side->id);
}

/* Of type treediff_fn. */
static int add_path(void *ctx, const struct treediff_change *change)
{
	struct finding *f = ctx;
	const struct staged_entry *entry =
		staged_find(&f->staged, change->path);

	if (entry && !f->against && !is_staged(entry, &change->old) &&
	    !is_staged(entry, &change->new)) {
		f->against = strdup(change->path);
		if (!f->against)
			return -ENOMEM;
	}
	return path_list_add(f->paths, change->path);
}

/*
 * git refuses a merge that would replace an edit which is staged.  Where a
 * file takes the place of a directory, it does not, and the edit was gone.
 */
static int need_unstaged(const struct finding *f, struct hb_error *err)
{
	if (!f->against)
		return 0;
	hb_fix(err, "commit or stash these changes first");
	return hb_fail(err, -HB_E_CONFLICT,
		       "changes that are not committed are in the way of the "
		       "merge: %s",
		       quoted(f->against));
}

static int load_staged(const struct deciding *d, const struct merge_repo *repo,
		       struct staged *ret, struct hb_error *err)
{
	const char *prefix = d->unit->prefix;
	auto_free char *path = NULL;

	if (asprintf(&path, "%s%s%s%sindex", prefix, *prefix ? "/" : "",
		     d->desk, d->desk[0] ? "/" : "") < 0) {
		path = NULL;
		return hb_fail(err, -ENOMEM, WORD);
	}
	return staged_load_base(d->session, d->resource->base, path,
				strlen(repo->into.hex), ret, err);
}

/* The paths that the merge changes in the user's commit. */
static int find_paths(const struct deciding *d, struct objectstore *objects,
		      const struct merge_repo *repo, struct path_list *ret,
		      struct hb_error *err)
{
	struct treediff diff = { .read = treediff_read,
				 .ctx = objects,
				 .n_paths = PATHS_MAX,
				 .n_trees = PATHS_MAX };
	struct finding found = { .paths = ret };
	struct git_id tree, old;
	int r = load_staged(d, repo, &found.staged, err);

	if (r >= 0)
		r = commit_tree(objects, repo->result.hex, &tree);
	if (r >= 0)
		r = commit_tree(objects, repo->into.hex, &old);
	if (r >= 0)
		r = treediff_run(&diff, &old, &tree, add_path, &found);
	if (r >= 0)
		r = need_unstaged(&found, err);
	path_list_sort(ret);
	staged_done(&found.staged);
	free(found.against);
	return r;
}

/*
 * Some reference moves from the user's commit to the merge, which contains the
 * session's commits.
 */
static bool is_result(const struct delivery *delivery,
		      struct objectstore *objects,
		      const struct merge_repo *repo)
{
	/* The user has all of it, or the session has no commit. */
	if (repo->is_own && git_id_is_same(&repo->result, &repo->into))
		return delivery->verdict == DELIVERY_FORWARD ||
		       delivery->verdict == DELIVERY_NOTHING;
	if (repo->is_own &&
	    values_is_ancestor(objects, repo->from.hex, repo->result.hex) <= 0)
		return false;
	if (delivery->verdict != DELIVERY_FORWARD ||
	    values_is_ancestor(objects, repo->tip.hex, repo->result.hex) <= 0)
		return false;
	for (size_t i = 0; i < delivery->n; i++)
		if (delivery->items[i].is_ref &&
		    strcmp(delivery->items[i].old, repo->into.hex) == 0 &&
		    strcmp(delivery->items[i].new, repo->result.hex) == 0)
			return true;
	return false;
}

/*
 * On a branch of its own: the user's branch still has the commit that the
 * session began at.  A merge would bring it back.
 */
static int need_begun(const struct deciding *d, struct objectstore *objects,
		      const struct merge_repo *repo, struct hb_error *err)
{
	const struct begun *begun = d->session->resources[repo->tree].begun;

	if (!repo->is_own || !begun ||
	    values_is_ancestor(objects, begun->commit, repo->into.hex) > 0)
		return 0;
	hb_fix(err, "holdback shell @%s: git rebase --onto %.12s %.12s there",
	       d->session->record.name, repo->into.hex, begun->commit);
	return hb_fail(err, -HB_E_CONFLICT,
		       "your branch does not have the commit any more that the "
		       "session began at: %.12s",
		       begun->commit);
}

static int say(struct deciding *d, const struct merge_repo *repo, size_t n)
{
	d->delivery->n_commits = n;
	if (asprintf(&d->repo->merged, "%zu commit%s merged in %.12s", n,
		     n == 1 ? " is" : "s are", repo->result.hex) >= 0)
		return 0;
	d->repo->merged = NULL;
	return -ENOMEM;
}

static int deliver_both(struct deciding *d, const struct delivery *before,
			struct merge *merge, struct both *both,
			const struct merge_repo *repo,
			const struct kept_refs *kept,
			struct changes *const *changes, struct hb_error *err)
{
	const struct deliver forward = { .mode = DELIVERY_MODE_FF,
					 .without = repo->is_own ? repo->branch
								 : NULL };
	struct deciding m = *d;
	struct objectstore *objects = NULL;
	struct merging_tree tree = {
		.d = d, .merge = merge, .repo = repo, .before = before
	};
	int r;

	m.resource = &both->resource;
	m.unit = &both->unit;
	m.has_merge = true;
	r = deciding_ask(&m, &forward, kept, err);
	if (r < 0)
		return r;
	r = deciding_objects(&m, &objects);
	if (r >= 0)
		r = need_begun(d, objects, repo, err);
	if (r >= 0 && !is_result(d->delivery, objects, repo))
		r = no_result(d->delivery, repo->is_own, err);
	else if (r >= 0)
		r = find_paths(d, objects, repo, &tree.paths, err);
	if (r < 0 && err->code == 0)
		(void)hb_fail(err, r, WORD);
	if (r >= 0)
		r = deciding_add_items(&m, changes, err);
	if (r >= 0)
		r = settle_left(d, &both->unit, err);
	tree.objects = objects;
	if (r >= 0)
		r = merging_tree_add(&tree, changes, err);
	merging_tree_done(&tree);
	objectstore_free(objects);
	return r;
}

/* All of it on a branch of that name, and nothing is merged. */
static int deliver_named(struct deciding *d, const struct deliver *deliver,
			 struct both *both, const struct merge_repo *repo,
			 const struct kept_refs *kept,
			 struct changes *const *changes, struct hb_error *err)
{
	const struct deliver named = { .mode = DELIVERY_MODE_BRANCH,
				       .is_ahead = deliver->is_ahead,
				       .without = repo->branch,
				       .as_branch = deliver->as_branch,
				       .as_commit = repo->tip.hex };
	struct deciding m = *d;
	int r;

	m.resource = &both->resource;
	m.unit = &both->unit;
	m.has_merge = true;
	r = deciding_ask(&m, &named, kept, err);
	if (r >= 0 && d->delivery->verdict == DELIVERY_REFUSED)
		return hb_fail(err, -HB_E_CONFLICT, "%s",
			       d->delivery->words[0]);
	return r < 0 ? r : deciding_add_items(&m, changes, err);
}

static const struct unit *find_unit(const struct units *units, size_t resource,
				    const char *prefix)
{
	for (size_t i = 0; i < units->n; i++)
		if (units->list[i].resource == resource &&
		    strcmp(units->list[i].prefix, prefix) == 0)
			return &units->list[i];
	return NULL;
}

int merging_deliver(struct deciding *d, const struct deliver *deliver,
		    const struct kept_refs *kept,
		    struct changes *const *changes, struct hb_error *err)
{
	struct merge *merge = deliver->merge;
	size_t resource = d->unit->resource;
	const struct merge_repo *repo =
		merge_find(merge, resource, d->unit->prefix);
	const struct unit *merged =
		find_unit(&merge->units, resource, d->unit->prefix);
	auto_delivery struct delivery before = *d->delivery;
	struct both both = { 0 };
	int r;

	*d->delivery = (struct delivery){ 0 };
	/* It was forward, or had other commits, when the merge was made. */
	if (!repo || !merged ||
	    !git_id_is_same(repo->is_own ? &repo->from : &repo->tip,
			    &before.tip))
		return changed_meanwhile(err);
	r = lay_units(&both, d, repo, merged);
	if (r >= 0)
		r = lay_layers(&both, d, &merge->aside->resources[resource]);
	if (r < 0)
		(void)hb_fail(err, r, WORD);
	if (r >= 0 && deliver->as_branch)
		r = deliver_named(d, deliver, &both, repo, kept, changes, err);
	else if (r >= 0)
		r = deliver_both(d, &before, merge, &both, repo, kept, changes,
				 err);
	if (r >= 0 && !deliver->as_branch)
		r = say(d, repo,
			before.n_commits +
				!git_id_is_same(&repo->tip, &before.tip));
	free(both.unit.files);
	free(both.resource.layers);
	return r;
}
