/* SPDX-License-Identifier: Apache-2.0 */
#include "git/kept/kept_index.h"

#include "base/auto.h"
#include "base/siphash.h"
#include "base/time.h"
#include "git/gitindex.h"
#include "git/kept/kept_file.h"
#include "git/kept/kept_refs.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/access.h"
#include "tree/carry.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PREFIX	  "index-"
#define NAME_SIZE (sizeof(PREFIX) + 16)
#define SUFFIX	  ".new"
#define INDEX	  "index"

/* By the path, which may be long and have slashes. */
static void name_of(const char *path, char *ret)
{
	static const struct siphash_key key = { 0, 0 };

	(void)snprintf(ret, NAME_SIZE, PREFIX "%016llx",
		       (unsigned long long)siphash(&key, path, strlen(path)));
}

int kept_index_write(int dir, const char *name, int from, const void *data,
		     uint64_t size, bool is_durable)
{
	char temporary[NAME_MAX + 1];
	auto_fd int to = -1;
	int r;

	(void)snprintf(temporary, sizeof(temporary), "%s" SUFFIX, name);
	to = sys_openat(dir, temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW,
			0600);
	if (to < 0)
		return to;
	r = data ? sys_write_all(to, data, (size_t)size)
		 : carry_bytes(from, to, size);
	if (r >= 0 && is_durable)
		r = sys_fsync(to);
	if (r >= 0)
		r = sys_renameat(dir, temporary, dir, name);
	if (r < 0)
		(void)sys_unlinkat(dir, temporary, 0);
	return r;
}

int kept_index_put_copy(int dir, const char *hash, int from, uint64_t size)
{
	char name[NAME_SIZE];

	(void)snprintf(name, sizeof(name), PREFIX "%.16s", hash);
	return kept_index_write(dir, name, from, NULL, size, true);
}

int kept_index_put(int dir, const char *path, const void *data, size_t size)
{
	char name[NAME_SIZE];

	name_of(path, name);
	return kept_index_write(dir, name, -1, data, size, true);
}

static void take(const struct kept_request *q, const char *path)
{
	struct sys_attr before, after;
	char name[NAME_SIZE];
	uint64_t size = 0;
	auto_fd int fd = access_open_regular(q->base, path, &size);

	if (fd < 0 || size > KEPT_INDEX_MAX ||
	    sys_attr_at(fd, "", &before) < 0 ||
	    (!time_is_before(before.ctime, q->t0) &&
	     !(q->is_ours &&
	       q->is_ours(q->ctx, path, before.ino, before.ctime))))
		return;
	name_of(path, name);
	if (kept_index_write(q->dir, name, fd, NULL, size, false) < 0)
		return;
	if (sys_attr_at(fd, "", &after) < 0 ||
	    !time_is_same(before.ctime, after.ctime))
		(void)sys_unlinkat(q->dir, name, 0);
}

/* Directories with a git directory each. */
struct several {
	const struct kept_request *request;
	const char *above;
	size_t n;
};

/* Of type tree_fn. */
static int take_one(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	struct several *s = ctx;
	char path[PATH_MAX];
	struct sys_attr head;
	int n;

	(void)err;
	if (visit->when != TREE_ENTER || !S_ISDIR(visit->attr.mode))
		return 0;
	if (s->n++ == KEPT_INDEXES_MAX)
		return -EFBIG;
	n = snprintf(path, sizeof(path), "%s/%s/" INDEX, s->above, visit->path);
	if (n < 0 || (size_t)n >= sizeof(path))
		return TREE_SKIP;
	take(s->request, path);
	(void)snprintf(path, sizeof(path), "%s/HEAD", visit->name);
	/* The name of a submodule may be a path: it goes on. */
	return sys_attr_at(visit->dir, path, &head) < 0 ? 0 : TREE_SKIP;
}

static void take_below(const struct kept_request *q, const char *above)
{
	struct several several = { q, above, 0 };
	auto_fd int dir =
		sys_openat2(q->base, above, O_RDONLY | O_DIRECTORY, 0,
			    K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);

	if (dir >= 0)
		(void)tree_walk(dir, ".", TREE_LENIENT, take_one, &several,
				NULL);
}

void kept_index_take(const struct kept_request *request)
{
	bool is_git = request->root == GIT_TOP;

	take(request, is_git ? INDEX : ".git/" INDEX);
	take_below(request, is_git ? "modules" : ".git/modules");
	if (is_git)
		take_below(request, "worktrees");
}

/* Of type tree_fn. */
static int share_one(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	const int *to = ctx;
	uint64_t size = 0;
	auto_fd int fd = -1;

	(void)err;
	if (!(strncmp(visit->name, PREFIX, strlen(PREFIX)) == 0 &&
	      strlen(visit->name) == NAME_SIZE - 1) &&
	    !kept_refs_is_file(visit->name))
		return TREE_SKIP;
	fd = access_open_regular(visit->dir, visit->name, &size);
	if (fd >= 0)
		(void)kept_index_write(*to, visit->name, fd, NULL, size, false);
	return TREE_SKIP;
}

void kept_index_share(int from, int to)
{
	(void)tree_walk(from, ".", TREE_FLAT | TREE_LENIENT, share_one, &to,
			NULL);
}

static ssize_t read_fd(void *ctx, void *buf, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, buf, size, offset);
}

int kept_index_open(int dir, const char *path, uint64_t *ret_size)
{
	char name[NAME_SIZE];

	name_of(path, name);
	return access_open_regular(dir, name, ret_size);
}

bool kept_index_is_same(int dir, const char *path, const struct side *base)
{
	uint64_t size = 0;
	auto_fd int now = -1;
	auto_fd int then = kept_index_open(dir, path, &size);

	if (then < 0)
		return false;
	now = access_open_file(base->dir, base->name, base->entry, false, NULL);
	return now >= 0 && gitindex_is_same(read_fd, &then, size, &now,
					    base->entry->size) == 1;
}
