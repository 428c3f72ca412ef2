/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_COMMIT_TREE_H
#define HB_GIT_DELIVERY_COMMIT_TREE_H

#include "git/gitobject.h"
#include "git/gittree.h"

#include <stdbool.h>

struct objectstore;

/*
 * The tree of a commit, and its first parent; "" without one.  -ENOENT: the
 * commit is not there; -EBADMSG: it is none.
 */
int commit_tree(struct objectstore *objects, const char *commit,
		struct git_id *ret_tree);
int commit_tree_parent(struct objectstore *objects, const char *commit,
		       struct git_id *ret_tree, struct git_id *ret_parent);

/* The entry of a path in a commit: 1, or 0 if there is none. */
int commit_tree_entry(struct objectstore *objects, const char *commit,
		      const char *path, struct git_id *ret_id,
		      enum gittree_mode *ret_mode);

/*
 * Whether a checkout of the commit would write over an object at that path, or
 * make a file of a directory above it: 1, 0.
 */
int commit_tree_meets(struct objectstore *objects, const char *commit,
		      const char *path, bool is_dir);

#endif
