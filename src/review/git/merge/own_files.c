/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/own_files.h"

#include "base/error.h"
#include "base/quote.h"
#include "changes/begun/begun.h"
#include "git/delivery/commit_tree.h"
#include "git/treediff.h"
#include "review/git/deciding.h"
#include "review/git/merge/blob_name.h"
#include "review/git/merge/merge.h"
#include "review/git/merge/merging_tree.h"
#include "session/session.h"
#include "tree/content.h"

#include <string.h>

/* The entry of a commit; mode 0: it has none. */
static int find_side(const struct merging_tree *t, const struct git_id *commit,
		     const char *path, struct treediff_side *ret,
		     struct hb_error *err)
{
	int r;

	*ret = (struct treediff_side){ 0 };
	r = commit_tree_entry(t->objects, commit->hex, path, &ret->id,
			      &ret->mode);
	if (r == 0 || (r > 0 && ret->mode == GITTREE_DIR))
		ret->mode = 0;
	return r < 0 ? hb_fail_at(err, r, path, "cannot merge") : 0;
}

static bool is_same(const struct treediff_side *a,
		    const struct treediff_side *b)
{
	return a->mode == b->mode &&
	       (a->mode == 0 || git_id_is_same(&a->id, &b->id));
}

static bool has_same_bytes(const struct treediff_side *a,
			   const struct treediff_side *b)
{
	return a->mode && b->mode &&
	       (a->mode == GITTREE_LINK) == (b->mode == GITTREE_LINK) &&
	       git_id_is_same(&a->id, &b->id);
}

static bool is_file(const struct entry *e)
{
	return e->type == ENTRY_FILE || e->type == ENTRY_LINK;
}

static int fail_filtered(const struct merging_tree *t, const char *path,
			 struct hb_error *err)
{
	hb_fix(err, "holdback exec @%s -- git commit -a, or rollback of it",
	       t->d->session->record.name);
	return hb_fail(err, -HB_E_CONFLICT,
		       "a filter of git changes a file on its way into a "
		       "commit: %s",
		       quoted(path));
}

int own_file_look(const struct merging_tree *t, const struct change *c,
		  struct own_file *ret, struct hb_error *err)
{
	const struct content_place place = {
		.root = t->d->session->resources[t->d->tree].layers[c->layer],
		.in_layer = true,
		.path = c->path,
		.entry = &c->new,
	};
	struct treediff_side tip, from, result, own = { 0 };
	int r = find_side(t, &t->repo->tip, c->path, &tip, err);

	if (r >= 0)
		r = find_side(t, &t->repo->from, c->path, &from, err);
	if (r >= 0)
		r = find_side(t, &t->repo->result, c->path, &result, err);
	if (r >= 0 && is_file(&c->new)) {
		own.mode = blob_mode(&c->new);
		r = blob_name(&place, strlen(t->repo->tip.hex), &own.id, err);
	}
	if (r < 0)
		return r;
	ret->is_raw = is_same(&own, &tip);
	ret->is_result = is_same(&result, &tip);
	/* Where git keeps no modes, a permission to execute is no filter's. */
	if (ret->is_raw || has_same_bytes(&own, &tip) ||
	    (own.mode && tip.mode && is_same(&tip, &from)))
		return 0;
	return fail_filtered(t, c->path, err);
}

int own_file_need_raw(const struct merging_tree *t, const struct change *c,
		      const struct own_file *file, struct hb_error *err)
{
	return file->is_raw ? 0 : fail_filtered(t, c->path, err);
}

int own_file_guard(const struct merging_tree *t, const char *path,
		   const struct entry *old, struct hb_error *err)
{
	const struct resource *tree = &t->d->session->resources[t->d->tree];
	const struct content_place place = { .root = tree->base,
					     .path = path,
					     .entry = old };
	struct treediff_side into, now = { 0 };
	int r;

	if (!t->repo->is_own || !tree->begun || !begun_names(tree->begun, path))
		return 0;
	r = find_side(t, &t->repo->into, path, &into, err);
	if (r >= 0 && is_file(old)) {
		now.mode = blob_mode(old);
		r = blob_name(&place, strlen(t->repo->into.hex), &now.id, err);
	}
	if (r < 0)
		return r;
	if (is_same(&into, &now) && (now.mode || old->type == ENTRY_NONE))
		return 0;
	hb_fix(err, "commit or stash your change first");
	return hb_fail(err, -HB_E_CONFLICT,
		       "changes that are not committed are in the way of the "
		       "merge: %s",
		       quoted(path));
}
