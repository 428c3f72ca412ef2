/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_KEPT_INDEX_H
#define HB_GIT_KEPT_INDEX_H

#include "git/gitunit.h"

#include <stdbool.h>
#include <time.h>

/*
 * Copies of a base's indexes as they were at T0, in a resource's directory of
 * the store.  git writes an index anew whenever it looks at the files, and the
 * change time then says that it was edited.  The copy tells whether an entry
 * was.
 *
 * A copy that is missing, torn or too large is no copy: then the change time
 * counts.
 */
#define KEPT_INDEX_MAX	 ((uint64_t)64 << 20)
#define KEPT_INDEXES_MAX 64 /* of submodules or worktrees */

struct kept_request {
	int base, dir;	     /* of the resource */
	enum git_place root; /* of the base */
	struct timespec t0;
	/* Whether an index changed since, by a commit of ours.  May be NULL. */
	bool (*is_ours)(void *ctx, const char *path, uint64_t ino,
			struct timespec ctime);
	void *ctx;
};

/*
 * Copies each index that is still that of T0: of the repository, of its
 * submodules and, where the base is a repository, of its worktrees.  The copy
 * of any other index stays.
 */
void kept_index_take(const struct kept_request *request);

/*
 * The copy of the index at the path is this content from now on.  A commit has
 * placed it, and git may have written the real index anew since.
 */
int kept_index_put(int dir, const char *path, const void *data, size_t size);

/*
 * Writes a file of the directory, of `data`, or without it of `from`.  A file
 * that is not whole has no name.  Durable: its content is, and not its name.
 */
int kept_index_write(int dir, const char *name, int from, const void *data,
		     uint64_t size, bool is_durable);

/* As kept_index_put(), of an open file, by the hash of the path
 * (kept/kept_placed.h). */
int kept_index_put_copy(int dir, const char *hash, int from, uint64_t size);

/* For a session that begins where another is; records of references too. */
void kept_index_share(int from, int to);

/* Whether the base's index at the path has the entries of the copy. */
bool kept_index_is_same(int dir, const char *path, const struct side *base);

/* The copy of the index at the path, and its size.  -ENOENT: there is none. */
int kept_index_open(int dir, const char *path, uint64_t *ret_size);

#endif
