/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/kept_values.h"

#include "git/kept/kept_file.h"
#include "session/session.h"
#include "txn/history.h"

#include <errno.h>

struct finding {
	const struct resource *resource;
	const char *prefix;
	uint64_t best;
	struct kept_refs *ret;
	int result;
};

/* Of type history_fn: the newest that has a record wins. */
static int see(void *ctx, uint64_t id, struct hb_error *err)
{
	struct finding *f = ctx;
	auto_kept_refs struct kept_refs found = { 0 };
	int r;

	(void)err;
	if (id <= f->best)
		return 0;
	r = kept_refs_load(f->resource->dir, f->prefix, id, &found);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	kept_refs_done(f->ret);
	*f->ret = found;
	found = (struct kept_refs){ 0 };
	f->best = id;
	f->result = 0;
	return 0;
}

int session_load_kept(const struct hb_session *s, size_t resource,
		      const char *prefix, struct kept_refs *ret)
{
	struct finding f = { .resource = &s->resources[resource],
			     .prefix = prefix,
			     .ret = ret,
			     .result = -ENOENT };
	int r = history_each(s->dir, HISTORY_DONE, see, &f, NULL);

	if (r < 0 || f.result == 0)
		return r;
	return kept_refs_load(f.resource->dir, prefix, 0, ret);
}

int session_store_kept(const struct hb_session *s, size_t resource,
		       const char *prefix, uint64_t id,
		       const struct kept_refs *refs)
{
	int dir = s->resources[resource].dir;
	/* After an undo it counts again. */
	int r = kept_refs_sync(dir, prefix);

	return r < 0 ? r : kept_refs_store(dir, prefix, id, refs);
}
