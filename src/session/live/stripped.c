/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/stripped.h"

#include "session/session.h"
#include "store/seen.h"
#include "tree/entry.h"
#include "tree/tree.h"

/* Of type copied_watch.begin. */
static void begin(void *ctx)
{
	stripped_done(ctx);
}

/* Of type copied_watch.skip. */
static int skip(void *ctx, size_t resource, const struct tree_visit *visit,
		const struct entry *entry)
{
	(void)ctx;
	(void)resource;
	(void)visit;
	(void)entry;
	return 0;
}

/* Of type copied_watch.one. */
static int one(void *ctx, size_t resource, const struct tree_visit *visit,
	       const struct entry *entry, int copy, struct hb_error *err)
{
	struct stripped *s = ctx;
	bool counts;
	int r;

	if (entry->taken == 0)
		return 0;
	counts = unmark_counts(&s->session->resources[resource], visit->path,
			       entry);
	r = unmark_strip(copy, visit->name, counts, err);
	return r < 0 || !counts ? r : unmark_add(&s->marks, visit->path, err);
}

/* Of type copied_watch.end. */
static int end(void *ctx, size_t resource, int top, struct hb_error *err)
{
	struct stripped *s = ctx;
	const struct resource *of = &s->session->resources[resource];
	struct seen_file seen;
	int r = seen_open(of->dir, &seen, err);

	if (r < 0)
		return r;
	unmark_sort(&s->marks);
	r = unmark_delete(&s->marks, &seen, of->upper, top, err);
	seen_done(&seen);
	unmark_done(&s->marks);
	return r;
}

struct copied_watch stripped_watch(struct stripped *s)
{
	return (struct copied_watch){
		.begin = begin, .skip = skip, .one = one, .end = end, .ctx = s
	};
}

void stripped_done(struct stripped *s)
{
	unmark_done(&s->marks);
}
