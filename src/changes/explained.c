/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/explained.h"

#include "base/auto.h"
#include "tree/access.h"
#include "tree/compare.h"

#include <fcntl.h>
#include <string.h>

/*
 * There is no snapshot of the old base.  But in a stack of layers every version
 * of a path below the topmost is a snapshot of a meantime.  They are looked at
 * only where there would be a conflict otherwise.
 */

/* Times do not count: they are no content. */
static int is_same(const struct side *a, const struct side *b,
		   struct hb_error *err)
{
	struct xattrs x, y;
	int r;

	if (a->entry->type != b->entry->type ||
	    a->entry->uid != b->entry->uid || a->entry->gid != b->entry->gid ||
	    (a->entry->type != ENTRY_LINK && a->entry->mode != b->entry->mode))
		return 0;
	r = side_same_bytes(a, b, err);
	if (r <= 0)
		return r;
	r = side_xattrs(a, &x, err);
	if (r >= 0)
		r = side_xattrs(b, &y, err);
	if (r < 0)
		return r;
	return memcmp(x.digest, y.digest, sizeof(x.digest)) == 0;
}

/* What the layer has at the path; `ret_dir` is above it, or -1. */
static int find_in_layer(int layer, const struct sighting *s, int *ret_dir,
			 struct entry *ret, struct hb_error *err)
{
	size_t len = (size_t)(s->name - s->path);

	*ret = (struct entry){ .type = ENTRY_NONE };
	*ret_dir = access_open_below(layer, s->path, len > 0 ? len - 1 : 0,
				     O_PATH, NULL);
	return *ret_dir < 0 ? 0 : entry_read_layer(*ret_dir, s->name, ret, err);
}

/* 1: the layer has that, 0: it has something else or nothing to say. */
static int is_in_layer(int layer, const struct sighting *s,
		       struct hb_error *err)
{
	struct side old = { .dir = s->base_dir,
			    .name = s->name,
			    .entry = &s->old };
	auto_fd int dir = -1;
	struct entry e;
	struct side new = { .name = s->name, .entry = &e, .in_layer = true };
	int r;

	r = find_in_layer(layer, s, &dir, &e, err);
	if (r < 0 || e.type == ENTRY_NONE)
		return r < 0 ? r : 0;
	new.dir = dir;
	return is_same(&new, &old, err);
}

/*
 * Nothing is in the base.  1: so it was when the lowest layer with the path was
 * made.  That layer deleted it, or has an object that is no copy of one below.
 * What lies above may well be a copy, of that one.
 */
static int is_new_in_layers(const struct resource *resource,
			    const struct sighting *s, struct hb_error *err)
{
	for (size_t i = resource->n_layers; i > 1; i--) {
		auto_fd int dir = -1;
		struct entry e;
		int r;

		r = find_in_layer(resource->layers[i - 1], s, &dir, &e, err);
		if (r < 0)
			return r;
		if (e.is_whiteout)
			return 1;
		if (e.type != ENTRY_NONE)
			return !e.has_origin;
	}
	return 0;
}

int explained_by_layers(const struct resource *resource,
			const struct sighting *s, struct hb_error *err)
{
	int r = 0;

	if (s->old.type == ENTRY_NONE)
		return is_new_in_layers(resource, s, err);
	for (size_t i = 1; r == 0 && i < resource->n_layers; i++)
		r = is_in_layer(resource->layers[i], s, err);
	return r;
}
