/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/touched.h"

#include "base/auto.h"
#include "base/grow.h"
#include "git/ancestry.h"
#include "git/delivery/commit_tree.h"
#include "git/delivery/decision.h"
#include "git/objectstore.h"
#include "git/treediff.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define COMMITS_MAX 4096 /* each is looked for in the list of all */

static int add(char ***list, size_t *n, const char *path)
{
	char *copy = strdup(path);

	if (!copy || grow(*list, *n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	(*list)[(*n)++] = copy;
	return 0;
}

/* Of type treediff_fn. */
static int add_touched(void *ctx, const struct treediff_change *change)
{
	struct decision *d = ctx;
	struct delivery *out = d->out;
	int r = add(&out->touched, &out->n_touched, change->path);

	if (r >= 0 && d->q->is_held && d->q->is_held(d->q->ctx, change->path))
		r = add(&out->held, &out->n_held, change->path);
	return r;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In order, each path once. */
static size_t sort(char **list, size_t n)
{
	size_t kept = n > 0;

	if (n > 0)
		qsort(list, n, sizeof(*list), by_text);
	for (size_t i = 1; i < n; i++)
		if (strcmp(list[i], list[kept - 1]) == 0)
			free(list[i]);
		else
			list[kept++] = list[i];
	return kept;
}

/* What differs between that commit, "" for none, and the session's. */
static int add_since(struct decision *d, struct treediff *diff, const char *old)
{
	struct git_id from, to;
	int r = old[0] ? commit_tree(d->q->objects, old, &from) : 0;

	if (r >= 0)
		r = commit_tree(d->q->objects, d->session_commit, &to);
	return r < 0 ? r
		     : treediff_run(diff, old[0] ? &from : NULL, &to,
				    add_touched, d);
}

static bool has(const struct ancestry *list, const struct git_id *id)
{
	for (size_t i = 0; i < list->n; i++)
		if (git_id_is_same(&list->items[i].id, id))
			return true;
	return false;
}

/* The parents of one new commit that are not new: a merge begins at these. */
static int add_since_parents(struct decision *d, struct treediff *diff,
			     const struct ancestry *new,
			     const struct git_id *commit)
{
	struct git_object object = { 0 };
	struct git_commit parsed;
	struct git_id parent;
	const char *at;
	int r = objectstore_read(d->q->objects, commit, OBJECTSTORE_COMMIT_MAX,
				 &object);

	if (r >= 0)
		r = git_commit_parse(&object, &parsed);
	at = r < 0 ? NULL : parsed.parents;
	while (r >= 0 && git_commit_parent(&at, &parent))
		if (!has(new, &parent) &&
		    strcmp(parent.hex, d->then_commit) != 0)
			r = add_since(d, diff, parent.hex);
	free(object.data);
	return r;
}

/*
 * The user may have taken the commit of T0 back, and the session has gone on
 * from a later one.  Then a merge also brings what differs from that.
 */
static int add_since_forks(struct decision *d, struct treediff *diff,
			   const char *base)
{
	auto_ancestry struct ancestry new = { 0 };
	struct git_id tip, old;
	int r;

	if (!git_id_parse(d->session_commit, strlen(d->session_commit), &tip) ||
	    !git_id_parse(base, strlen(base), &old))
		return 0;
	r = ancestry_find(d->q->objects, &tip, 1, &old, 1, &new);
	if (r >= 0 && new.n > COMMITS_MAX)
		r = -EFBIG;
	for (size_t i = 0; r >= 0 && i < new.n; i++)
		if (!new.items[i].is_missing)
			r = add_since_parents(d, diff, &new, &new.items[i].id);
	return r;
}

int touched_find(struct decision *d)
{
	struct treediff diff = { .read = treediff_read,
				 .ctx = d->q->objects,
				 .n_paths = TREEDIFF_PATHS,
				 .n_trees = TREEDIFF_TREES };
	char head[PATH_MAX];
	int r;

	if (!d->session_commit[0])
		return 0;
	decision_head(d, head, sizeof(head));
	r = add_since(d, &diff, d->then_commit);
	if (r >= 0 && !d->is_forward)
		r = add_since_forks(d, &diff, decision_resolve(&d->base, head));
	d->out->n_touched = sort(d->out->touched, d->out->n_touched);
	d->out->n_held = sort(d->out->held, d->out->n_held);
	if (r >= 0 || r == -ENOMEM)
		return r;
	/* Not to be told: then none is written, and none is free. */
	d->out->is_all_touched = true;
	return 0;
}
