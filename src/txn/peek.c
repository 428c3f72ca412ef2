/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/peek.h"

#include "base/error.h"
#include "tree/content.h"

#include <errno.h>

int peek_upper(struct site *s, const struct op *op, peek_fn fn, void *ctx,
	       struct hb_error *err)
{
	const struct content_place in = { .root = s->resource->layers[0],
					  .in_layer = true,
					  .path = op->path };
	struct content_dir dir = { .fd = -1 };
	struct hb_error why = { 0 };
	struct place at;
	int left, r;

	r = site_upper(s, op, &at, &why);
	if (r >= 0)
		r = fn(ctx, &at, &why);
	if (r != -EACCES) {
		return hb_pass(err, &why, r);
	}
	r = content_enter(&in, &dir, &at.name, err);
	at.dir = dir.fd;
	if (r >= 0)
		r = fn(ctx, &at, err);
	left = content_leave(&dir, r < 0 ? NULL : err);
	return r < 0 || left >= 0 ? r : left;
}

static int read_object(void *ctx, const struct place *at, struct hb_error *err)
{
	return place_read(at, ctx, err);
}

int peek_object(struct site *s, const struct op *op, struct object *ret,
		struct hb_error *err)
{
	return peek_upper(s, op, read_object, ret, err);
}
