/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/connected.h"

#include "base/auto.h"
#include "base/grow.h"
#include "git/ancestry.h"
#include "git/delivery/commit_tree.h"
#include "git/delivery/decision.h"
#include "git/delivery/git_part.h"
#include "git/delivery/shallow.h"
#include "git/objectstore.h"
#include "git/treediff.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATHS_MAX ((uint64_t)1 << 20)
#define TREES_MAX ((uint64_t)1 << 20)
#define LOOSE	  "objects/"
#define PROMISOR  ".promisor"

struct check {
	struct decision *d;
	struct git_id missing;
	bool is_partial; /* files and trees may be elsewhere */
	struct treediff diff;
};

static int say_missing(struct check *c, const char *what, const char *id)
{
	int r = decision_say(c->d,
			     "%s %.12s is missing in the session: nothing of "
			     "the repository is delivered",
			     what, id);

	return r < 0 ? r : 0;
}

/* Of type tree_fn. */
static int find_promisor(void *ctx, const struct tree_visit *visit,
			 struct hb_error *err)
{
	size_t n = strlen(visit->name), k = strlen(PROMISOR);

	(void)err;
	if (n > k && strcmp(visit->name + n - k, PROMISOR) == 0)
		*(bool *)ctx = true;
	return TREE_SKIP;
}

/* By the base alone: what the session made does not excuse it. */
static void look_at_base(struct check *c)
{
	const struct delivery_request *q = c->d->q;
	char path[PATH_MAX];
	auto_fd int packs = -1;
	int n = snprintf(path, sizeof(path), "%s%sobjects/pack", q->prefix,
			 q->prefix[0] ? "/" : "");

	c->is_partial = decision_base_has(c->d, "objects/info/alternates");
	if (n < 0 || (size_t)n >= sizeof(path))
		return;
	packs = sys_openat2(q->base, path, O_RDONLY | O_DIRECTORY, 0,
			    K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);
	if (packs >= 0)
		(void)tree_walk(packs, ".", TREE_FLAT | TREE_LENIENT,
				find_promisor, &c->is_partial, NULL);
}

/* A base that lacks the commit itself is not made worse. */
static bool is_known(const struct check *c, const struct git_id *id)
{
	const struct kept_refs *const known[] = { &c->d->base, c->d->q->kept };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < known[k]->n; i++)
			if (strcmp(known[k]->refs[i].value, id->hex) == 0)
				return true;
	return false;
}

/* Whether the parents of a commit are beyond a shallow boundary. */
static bool is_boundary(const struct check *c, const struct git_id *id)
{
	return strstr(c->d->shallow, id->hex) != NULL;
}

/* Of type treediff_fn. */
static int check_file(void *ctx, const struct treediff_change *change)
{
	struct check *c = ctx;

	/* A submodule's commit is in another repository. */
	if (change->new.mode == 0 || change->new.mode == GITTREE_MODULE ||
	    objectstore_has(c->d->q->objects, &change->new.id))
		return 0;
	c->missing = change->new.id;
	return -ENOENT;
}

/* 1: the commit's tree is there, as far as its parent's is another. */
static int check_tree(struct check *c, const struct git_id *commit)
{
	struct git_id tree, parent, old, ignored;
	bool has_old;
	int r = commit_tree_parent(c->d->q->objects, commit->hex, &tree,
				   &parent);

	if (r < 0)
		return r == -ENOMEM ? r : say_missing(c, "commit", commit->hex);
	has_old = parent.hex[0] && !is_boundary(c, commit) &&
		  commit_tree_parent(c->d->q->objects, parent.hex, &old,
				     &ignored) >= 0;
	c->missing.hex[0] = '\0';
	r = treediff_run(&c->diff, has_old ? &old : NULL, &tree, check_file, c);
	if (r >= 0)
		return 1;
	if (r == -ENOMEM)
		return r;
	if (r == -EFBIG)
		return decision_say(c->d, "there is too much in the session's "
					  "commits to look at: nothing of the "
					  "repository is delivered");
	return say_missing(c, c->missing.hex[0] ? "object" : "tree",
			   c->missing.hex[0] ? c->missing.hex : c->diff.at.hex);
}

static int find_new(struct check *c, struct ancestry *ret)
{
	const struct kept_refs *moved = &c->d->moved, *base = &c->d->base;
	const struct kept_refs *next = &c->d->out->next;
	auto_free struct git_id *new =
		calloc(moved->n + next->n_stash + 1, sizeof(*new));
	auto_free struct git_id *old =
		calloc(base->n + c->d->loose.n_stash + 1, sizeof(*old));
	size_t n_new = 0, n_old = 0;

	if (!new || !old)
		return -ENOMEM;
	for (size_t i = 0; i < moved->n; i++)
		n_new +=
			git_id_parse(moved->refs[i].value,
				     strlen(moved->refs[i].value), &new[n_new]);
	for (size_t i = 0; i < base->n; i++)
		n_old += git_id_parse(base->refs[i].value,
				      strlen(base->refs[i].value), &old[n_old]);
	for (size_t i = 0; i < next->n_stash; i++)
		n_new += git_id_parse(next->stash[i], strlen(next->stash[i]),
				      &new[n_new]);
	for (size_t i = 0; i < c->d->loose.n_stash; i++)
		n_old +=
			git_id_parse(c->d->loose.stash[i],
				     strlen(c->d->loose.stash[i]), &old[n_old]);
	return ancestry_find(c->d->q->objects, new, n_new, old, n_old, ret);
}

static bool is_excused(const struct check *c, const struct git_id *id)
{
	return is_known(c, id) ||
	       shallow_is_beyond(c->d->q->objects, c->d->shallow, id);
}

static int check_commits(struct check *c)
{
	auto_ancestry struct ancestry found = { 0 };
	int r = find_new(c, &found);

	if (r == -EFBIG)
		return decision_say(c->d, "there are too many new commits to "
					  "look at: nothing of the repository "
					  "is delivered");
	if (r < 0)
		return r;
	for (size_t i = 0; i < found.n; i++) {
		const struct ancestry_item *item = &found.items[i];

		/* A tag of a tree or file is there, and no commit. */
		if (item->is_missing &&
		    (is_excused(c, &item->id) ||
		     objectstore_has(c->d->q->objects, &item->id)))
			continue;
		if (item->is_missing)
			return say_missing(c, "commit", item->id.hex);
		if (c->is_partial)
			continue;
		r = check_tree(c, &item->id);
		if (r <= 0)
			return r;
	}
	return 1;
}

int connected_check(struct decision *d)
{
	struct check c = { .d = d,
			   .diff = { .read = treediff_read,
				     .ctx = d->q->objects,
				     .n_paths = PATHS_MAX,
				     .n_trees = TREES_MAX } };

	if (d->moved.n == 0)
		return 1;
	look_at_base(&c);
	return check_commits(&c);
}
