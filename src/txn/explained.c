/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/explained.h"

#include "base/auto.h"
#include "base/error.h"
#include "txn/access.h"
#include "txn/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/*
 * There is no picture of the base as it was, but of a stack of layers all
 * but the topmost version of a path are pictures of what it was meanwhile.
 * They are looked at only where there would be a conflict otherwise.
 */

static int same_bytes(const struct side *a, const struct side *b,
		      struct hb_error *err)
{
	switch (a->entry->type) {
	case ENTRY_FILE:
		return side_same_content(a, b, err);
	case ENTRY_LINK:
		return side_same_target(a, b, err);
	case ENTRY_NONE:
	case ENTRY_DIR:
	case ENTRY_FIFO:
	case ENTRY_SOCKET:
	case ENTRY_DEVICE:
	default:
		return 1;
	}
}

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
	r = same_bytes(a, b, err);
	if (r <= 0)
		return r;
	r = side_xattrs(a, &x, err);
	if (r >= 0)
		r = side_xattrs(b, &y, err);
	if (r < 0)
		return r;
	return memcmp(x.digest, y.digest, sizeof(x.digest)) == 0;
}

/* 1: the layer has that, 0: it has something else or nothing to say. */
static int is_in_layer(int layer, const struct sighting *s,
		       struct hb_error *err)
{
	size_t len = (size_t)(s->name - s->path);
	struct side old = { .dir = s->base_dir,
			    .name = s->name,
			    .entry = &s->old };
	auto_fd int dir = -1;
	struct entry e;
	struct side new = { .name = s->name, .entry = &e, .in_layer = true };
	int r;

	dir = access_open_below(layer, s->path, len > 0 ? len - 1 : 0, O_PATH,
				NULL);
	if (dir < 0)
		return 0;
	new.dir = dir;
	r = entry_read_layer(dir, s->name, &e, err);
	if (r < 0)
		return r;
	if (e.type == ENTRY_NONE)
		return e.is_whiteout && s->old.type == ENTRY_NONE;
	return s->old.type == ENTRY_NONE ? 0 : is_same(&new, &old, err);
}

int explained_by_layers(const struct changes_request *request,
			const struct sighting *s, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 1; r == 0 && i < request->n_layers; i++)
		r = is_in_layer(request->layers[i], s, err);
	return r;
}
