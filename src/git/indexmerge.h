/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_INDEXMERGE_H
#define HB_GIT_INDEXMERGE_H

#include "git/gitindex.h"

#include <stdbool.h>
#include <time.h>

struct buf;

/*
 * Merges three versions of an index by entry: the one of T0, the base's and the
 * session's.  An entry is a path with its stages, each with mode, object and
 * flags; stat data does not count.
 *
 * What one side changed is taken.  What both changed in the same way is too.
 * Anything else is a conflict of that path.  So is an entry of one side that
 * lies below an entry of the other.  A result with conflicts is of no use.
 */
#define INDEXMERGE_MAX ((size_t)256 << 20) /* bytes of the result */

/* One version; without a reader it has no entries. */
struct indexmerge_side {
	gitindex_read_fn read;
	void *ctx;
	uint64_t size;
};

/* The numbers as an index has them: the lower 32 bits of each. */
struct indexmerge_stat {
	struct timespec ctime, mtime;
	uint64_t dev, ino, size;
	uint32_t uid, gid;
};

/* An entry of a commit: its mode, 0 for none, and its id. */
struct indexmerge_value {
	uint32_t mode;
	unsigned char id[32];
};

/* A path that the commit of the base and the session's have differently. */
struct indexmerge_moved {
	char *path;
	struct indexmerge_value base, session;
};

struct indexmerge_request {
	struct indexmerge_side then, base, session;
	/*
	 * In the order of strcmp().  The session's commit follows on the
	 * base's: an entry that both have as in their commits is the session's.
	 */
	const struct indexmerge_moved *moved;
	size_t n_moved;
	size_t id_size; /* 20 or 32 */
	/* When the base's index was written: git's rule of racy entries. */
	struct timespec base_mtime;
	/* An entry that both sides changed; -errno ends it.  May be NULL. */
	int (*conflict)(void *ctx, const char *path);
	void *ctx;
};

struct indexmerge_result {
	bool is_changed; /* it differs from the base's */
	size_t n_taken;	 /* entries of the session */
	size_t n_conflicts;
};

/*
 * Adds the merged index to `out`: version 2, or 3 where an entry needs it,
 * without extensions.  Stat data of an entry of the base stays, but where the
 * entry is racy.  All other entries have none, and git looks at their files.
 * -EBADMSG: one of them is no index, is not in order, or has a wrong sum;
 * -EFBIG, or the reader's error.
 */
int indexmerge(const struct indexmerge_request *request, struct buf *out,
	       struct indexmerge_result *ret);

/* The stat data of an entry, in GITINDEX_STAT_SIZE bytes as an index has it. */
void indexmerge_put_stat(const struct indexmerge_stat *st, uint32_t mode,
			 unsigned char *ret);

#endif
