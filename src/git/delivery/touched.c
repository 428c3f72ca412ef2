/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/touched.h"

#include "base/grow.h"
#include "git/delivery/commit_tree.h"
#include "git/delivery/decision.h"
#include "git/objectstore.h"
#include "git/treediff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static void sort(char **list, size_t n)
{
	if (n > 0)
		qsort(list, n, sizeof(*list), by_text);
}

int touched_find(struct decision *d)
{
	struct treediff diff = { .read = treediff_read,
				 .ctx = d->q->objects,
				 .n_paths = TREEDIFF_PATHS,
				 .n_trees = TREEDIFF_TREES };
	struct git_id old, new;
	bool has_old = d->then_commit[0] != '\0';
	int r = 0;

	if (!d->session_commit[0])
		return 0;
	if (has_old)
		r = commit_tree(d->q->objects, d->then_commit, &old);
	if (r >= 0)
		r = commit_tree(d->q->objects, d->session_commit, &new);
	if (r >= 0)
		r = treediff_run(&diff, has_old ? &old : NULL, &new,
				 add_touched, d);
	sort(d->out->touched, d->out->n_touched);
	sort(d->out->held, d->out->n_held);
	if (r >= 0 || r == -ENOMEM)
		return r;
	/* Not to be told: then none is written, and none is free. */
	d->out->is_all_touched = true;
	return 0;
}
