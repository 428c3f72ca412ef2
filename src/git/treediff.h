/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_TREEDIFF_H
#define HB_GIT_TREEDIFF_H

#include "git/gitobject.h"
#include "git/gittree.h"

/*
 * The paths that differ between two trees, as `git diff-tree -r` lists them: in
 * its order, without directories, without renames.  A subtree that is the same
 * on both sides is not read.
 *
 * The writer is hostile.  Each entry of both trees is compared or told, also
 * where a tree is not in order or has a name twice.  So such a tree can make
 * more paths differ, and never fewer.  Names are text alone: nothing is looked
 * up by them.  Time, depth and memory are bounded.
 */
#define TREEDIFF_PATHS	  ((uint64_t)100000) /* what a caller may begin with */
#define TREEDIFF_TREES	  ((uint64_t)400000)
#define TREEDIFF_PATH_MAX ((size_t)4095)     /* git checks out no longer path */
#define TREEDIFF_LIVE_MAX ((size_t)64 << 20) /* bytes of trees in memory */

struct treediff_side {
	enum gittree_mode mode; /* 0: it is not there, and has no id */
	struct git_id id;
};

/* Lives as long as the call. */
struct treediff_change {
	const char *path; /* any bytes but NUL, also "../x" and ".git/x" */
	struct treediff_side old, new;
};

/* A negated code ends the comparison, which returns it. */
typedef int (*treediff_fn)(void *ctx, const struct treediff_change *change);

/*
 * Reads a tree, of at most `max` bytes, as objectstore_read(), which
 * treediff_read() calls with the store as `ctx`.
 */
typedef int (*treediff_read_fn)(void *ctx, const struct git_id *id, size_t max,
				struct git_object *ret_object);
int treediff_read(void *ctx, const struct git_id *id, size_t max,
		  struct git_object *ret_object);

/* One budget may be for many comparisons. */
struct treediff {
	treediff_read_fn read;
	void *ctx;
	uint64_t n_paths, n_trees; /* that may still be told, and read */
	/* After a failure: the tree that it is about, or "". */
	struct git_id at;
};

/*
 * NULL: the empty tree.  -ENOENT: a tree is not there; -EBADMSG: it is none;
 * -EFBIG: the budget is used up, or a tree or path is too large; -ENOMEM; or
 * what `fn` said.  Changes before that were told.
 */
int treediff_run(struct treediff *diff, const struct git_id *old,
		 const struct git_id *new, treediff_fn fn, void *ctx);

#endif
