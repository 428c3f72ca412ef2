/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/git/delivered.h"

#include "base/grow.h"
#include "base/path.h"
#include "changes/stream.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX ((size_t)1 << 20)

void delivered_done(struct delivered *delivered)
{
	for (size_t i = 0; i < delivered->n; i++) {
		free(delivered->items[i].path);
		free(delivered->items[i].data);
		free(delivered->items[i].then);
		free(delivered->items[i].next);
	}
	free(delivered->items);
	*delivered = (struct delivered){ 0 };
}

struct delivered_item *delivered_add(struct delivered *delivered,
				     const char *path, enum delivered_how how)
{
	struct delivered_item *item;

	if (delivered->n >= ITEMS_MAX ||
	    grow(delivered->items, delivered->n) < 0)
		return NULL;
	item = &delivered->items[delivered->n];
	*item = (struct delivered_item){ .path = strdup(path), .how = how };
	delivered->n += item->path != NULL;
	return item->path ? item : NULL;
}

static int by_path(const void *a, const void *b)
{
	const struct delivered_item *x = a, *y = b;

	return path_compare(x->path, y->path);
}

void delivered_sort(struct delivered *delivered)
{
	if (delivered->n > 0)
		qsort(delivered->items, delivered->n, sizeof(*delivered->items),
		      by_path);
}

const struct delivered_item *delivered_find(const struct delivered *delivered,
					    const char *path)
{
	/* Only compared. */
	const struct delivered_item key = { .path = (char *)(uintptr_t)path };

	return delivered->n == 0 ? NULL
				 : bsearch(&key, delivered->items, delivered->n,
					   sizeof(key), by_path);
}

void delivered_lay_over(struct changes *changes, struct change *change)
{
	const struct delivered *d = &changes->delivered;
	size_t *at = &changes->n_passed;

	change->item = NULL;
	while (*at < d->n && path_compare(d->items[*at].path, change->path) < 0)
		++*at;
	if (*at >= d->n || strcmp(d->items[*at].path, change->path) != 0)
		return;
	change->item = &d->items[*at];
	/* Decided by value: times say nothing about it any more. */
	change->flags &= ~(unsigned)(CHANGE_CONFLICT | CHANGE_FIRM);
	change->conflict = CONFLICT_NONE;
	change->why = NULL;
}
