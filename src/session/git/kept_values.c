/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/kept_values.h"

#include "base/auto.h"
#include "session/session.h"
#include "txn/history.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A name that no path of a repository has. */
static int key_of(const char *prefix, uint64_t id, char **ret)
{
	return asprintf(ret, "%s\n%" PRIu64, prefix, id) < 0 ? -ENOMEM : 0;
}

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
	auto_free char *key = NULL;
	auto_kept_refs struct kept_refs found = { 0 };
	int r;

	(void)err;
	if (id <= f->best)
		return 0;
	r = key_of(f->prefix, id, &key);
	if (r == 0)
		r = kept_refs_load(f->resource->dir, key, &found);
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
	return kept_refs_load(f.resource->dir, prefix, ret);
}

int session_store_kept(const struct hb_session *s, size_t resource,
		       const char *prefix, uint64_t id,
		       const struct kept_refs *refs)
{
	auto_free char *key = NULL;
	int r = key_of(prefix, id, &key);

	return r < 0 ? r
		     : kept_refs_store(s->resources[resource].dir, key, refs);
}
