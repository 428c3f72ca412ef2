/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/contents.h"

#include "base/siphash.h"
#include "tree/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* A sum: the order of a walk is the file system's. */
void contents_add(uint64_t *sum, const struct tree_visit *v)
{
	static const struct siphash_key none = { 0, 0 };
	const struct sys_attr *a = &v->attr;
	uint64_t all[6] = { siphash(&none, v->path, strlen(v->path)), a->mode };

	if (v->when != TREE_ENTER)
		return;
	/* Of a directory the entries tell, and on an overlay it is remade. */
	if (!S_ISDIR(a->mode)) {
		all[2] = a->ino;
		all[3] = a->size;
		all[4] = (uint64_t)a->mtime.tv_sec;
		all[5] = (uint64_t)a->mtime.tv_nsec;
	}
	*sum += siphash(&none, all, sizeof(all));
}

uint64_t contents_end(uint64_t sum)
{
	return sum != 0 ? sum : 1;
}

static int add_one(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	(void)err;
	contents_add(ctx, v);
	return 0;
}

static int add_all(const struct place *at, uint64_t *sum)
{
	*sum = 0;
	return at->dir < 0
		       ? at->dir
		       : tree_walk(at->dir, at->name, 0, add_one, sum, NULL);
}

uint64_t contents_read(const struct place *at)
{
	uint64_t sum;

	return add_all(at, &sum) < 0 ? 0 : contents_end(sum);
}

bool contents_are(const struct place *at, uint64_t entries)
{
	uint64_t sum;
	int r;

	if (entries == 0)
		return true;
	r = add_all(at, &sum);
	/* Closed, as the session left it: the user would have to open it. */
	return r == -EACCES || (r >= 0 && contents_end(sum) == entries);
}
