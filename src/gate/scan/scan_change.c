/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan_change.h"

#include "base/auto.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The new content first: most files have nothing, and then nothing else is
 * read.  What was found there is kept, up to a limit, and what the old content
 * has as well is struck out.
 */
struct news {
	struct scan_finding found[SCAN_NEWS_MAX];
	bool is_old[SCAN_NEWS_MAX];
	size_t count;
	scan_found_fn tell;
	void *ctx;
};

static bool is_same(const struct scan_finding *a, const struct scan_finding *b)
{
	return strcmp(a->kind->id, b->kind->id) == 0 &&
	       memcmp(a->digest, b->digest, sizeof(a->digest)) == 0;
}

static int keep(void *ctx, const struct scan_finding *finding,
		struct hb_error *err)
{
	struct news *news = ctx;

	for (size_t i = 0; i < news->count; i++)
		if (is_same(&news->found[i], finding))
			return 0;
	if (news->count == SCAN_NEWS_MAX)
		return news->tell(news->ctx, finding, err);
	news->found[news->count++] = *finding;
	return 0;
}

static int strike(void *ctx, const struct scan_finding *finding,
		  struct hb_error *err)
{
	struct news *news = ctx;

	(void)err;
	for (size_t i = 0; i < news->count; i++)
		if (is_same(&news->found[i], finding))
			news->is_old[i] = true;
	return 0;
}

int scan_change(struct scan *scan, int new_fd, int old_fd, scan_found_fn found,
		void *ctx, struct hb_error *err)
{
	auto_free struct news *news = calloc(1, sizeof(*news));
	int r;

	if (!news)
		return hb_fail(err, -ENOMEM, "cannot look for secrets");
	news->tell = found;
	news->ctx = ctx;
	r = scan_fd(scan, new_fd, keep, news, err);
	if (r >= 0 && news->count && old_fd >= 0)
		r = scan_fd(scan, old_fd, strike, news, err);
	for (size_t i = 0; i < news->count && r >= 0; i++)
		if (!news->is_old[i])
			r = found(ctx, &news->found[i], err);
	return r < 0 ? r : 0;
}
