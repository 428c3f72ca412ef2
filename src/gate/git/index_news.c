/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/git/index_news.h"

#include "base/auto.h"
#include "git/gitindex.h"
#include "sys/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As gitindex.h keeps flags: assume-unchanged above, skip-worktree below. */
#define HIDDEN (0x80000000U | 0x4000U)
#define STAGE  0x30000000U

struct side_index {
	struct gitindex *index;
	struct gitindex_entry entry;
	bool has_entry;
};

static ssize_t read_fd(void *ctx, void *buf, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, buf, size, offset);
}

static int advance(struct side_index *side)
{
	int r = gitindex_next(side->index, &side->entry);

	side->has_entry = r == 1;
	return r < 0 ? r : 0;
}

/* git's order of entries: by path, and then by stage. */
static int compare(const struct gitindex_entry *a,
		   const struct gitindex_entry *b)
{
	int r = strcmp(a->path, b->path);

	if (r != 0)
		return r;
	return ((a->flags & STAGE) > (b->flags & STAGE)) -
	       ((a->flags & STAGE) < (b->flags & STAGE));
}

static struct treediff_side side_of(const struct side_index *side)
{
	const struct gittree_entry entry = {
		.mode = gittree_mode(side->entry.mode),
		.id = (const char *)side->entry.id,
	};
	const struct gittree tree = { .id_size = side->index->id_size };
	struct treediff_side ret = { .mode = entry.mode };

	gittree_id(&tree, &entry, &ret.id);
	return ret;
}

/* `old`: the entry of the same path; else NULL. */
static int tell(const struct side_index *old, const struct side_index *new,
		index_news_fn fn, void *ctx)
{
	const uint32_t hidden = new->entry.flags &HIDDEN;
	struct index_news news = { .path = new->entry.path };

	if (old &&
	    old->entry.mode ==
		    new->entry.mode &&memcmp(old->entry.id, new->entry.id,
					     sizeof(new->entry.id)) == 0 &&
	    !(hidden & ~old->entry.flags))
		return 0;
	news.is_hidden = hidden & ~(old ? old->entry.flags : 0);
	news.new = side_of(new);
	if (old)
		news.old = side_of(old);
	return fn(ctx, &news);
}

/* Entries out of order are told, never passed over. */
static int run(struct side_index *old, struct side_index *new, index_news_fn fn,
	       void *ctx)
{
	int r = advance(new);

	if (r >= 0 && old->index && advance(old) < 0)
		old->has_entry = false;
	while (r >= 0 && new->has_entry) {
		int order =
			old->has_entry ? compare(&old->entry, &new->entry) : 1;

		if (order >= 0)
			r = tell(order == 0 ? old : NULL, new, fn, ctx);
		if (r >= 0 && order >= 0)
			r = advance(new);
		if (order <= 0 && advance(old) < 0)
			old->has_entry = false;
	}
	return r;
}

static int try_size(const struct index_news_request *request, size_t id_size,
		    struct gitindex *a, struct gitindex *b, index_news_fn fn,
		    void *ctx)
{
	struct side_index old = { .index = a }, new = { .index = b };
	int fds[] = { request->old, request->new };
	int r = gitindex_open(b, read_fd, &fds[1], request->new_size, id_size);

	if (r < 0)
		return r;
	if (request->old < 0 ||
	    gitindex_open(a, read_fd, &fds[0], request->old_size, id_size) < 0)
		old.index = NULL;
	return run(&old, &new, fn, ctx);
}

static int count_only(void *ctx, const struct index_news *news)
{
	(void)ctx;
	(void)news;
	return 0;
}

int index_news(const struct index_news_request *request, index_news_fn fn,
	       void *ctx)
{
	static const size_t id_sizes[] = { 20, 32 };
	auto_free struct gitindex *a = malloc(sizeof(*a));
	auto_free struct gitindex *b = malloc(sizeof(*b));
	int r = -EBADMSG;

	if (!a || !b)
		return -ENOMEM;
	/* The size of ids is right where all of the file can be read. */
	for (int i = 0; i < 2 && r == -EBADMSG; i++) {
		r = try_size(request, id_sizes[i], a, b, count_only, NULL);
		if (r >= 0)
			return try_size(request, id_sizes[i], a, b, fn, ctx);
	}
	return r;
}
