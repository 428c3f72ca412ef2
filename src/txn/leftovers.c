/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/leftovers.h"

#include "base/error.h"
#include "git/kept/kept_file.h"
#include "sys/file.h"
#include "txn/history.h"
#include "txn/site.h"

#include <errno.h>

struct sweep {
	int session;
	const struct resource *resource;
};

static int sweep_id(void *ctx, uint64_t id, struct hb_error *err)
{
	struct sweep *w = ctx;
	struct site site;
	int r;

	if (history_has(w->session, id))
		return 0;
	r = site_open(&site, w->resource, id, err);
	if (r < 0)
		return r;
	r = site_remove(&site, err);
	site_close(&site);
	return r;
}

/* In flight is none: a journal that has not come to its end has no record. */
static bool is_known(void *ctx, uint64_t id)
{
	return history_has(*(const int *)ctx, id);
}

int leftovers_sweep(struct txn *txn, struct hb_error *err)
{
	static const char *const unfinished[] = { "journal.new",
						  "journal.done.new" };
	int r;

	for (size_t i = 0; i < sizeof(unfinished) / sizeof(*unfinished); i++) {
		r = sys_unlinkat(txn->session, unfinished[i], 0);
		if (r < 0 && r != -ENOENT)
			return hb_fail(err, r,
				       "cannot remove an unfinished journal");
	}
	for (size_t i = 0; i < txn->n_resources; i++) {
		const struct resource *res = &txn->resources[i];
		struct sweep w = { .session = txn->session, .resource = res };

		r = history_each_in(res->spot, "txn", sweep_id, &w, err);
		if (r >= 0)
			r = history_each_in(res->dir, "txn", sweep_id, &w, err);
		if (r < 0)
			return r;
		r = kept_refs_sweep(res->dir, is_known, &txn->session);
		if (r < 0)
			return hb_fail(err, r, "cannot sweep the records");
	}
	return 0;
}
