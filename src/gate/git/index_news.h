/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GIT_INDEX_NEWS_H
#define HB_GATE_GIT_INDEX_NEWS_H

#include "git/treediff.h"

#include <stdbool.h>
#include <stdint.h>

/* What an index has that another one had not, entry by entry. */
struct index_news {
	const char *path;
	struct treediff_side old, new;
	/* It is marked skip-worktree or assume-unchanged, and was not. */
	bool is_hidden;
};

typedef int (*index_news_fn)(void *ctx, const struct index_news *news);

struct index_news_request {
	int old, new; /* -1: there is no old one */
	uint64_t old_size, new_size;
};

/*
 * Tells each entry that is new, has another object or mode, or is hidden now;
 * none that is gone: the files tell that.  An old index that cannot be
 * understood is none.  -EBADMSG: the new one cannot; or what `fn` said.
 */
int index_news(const struct index_news_request *request, index_news_fn fn,
	       void *ctx);

#endif
