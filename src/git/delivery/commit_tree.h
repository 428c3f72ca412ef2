/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_COMMIT_TREE_H
#define HB_GIT_DELIVERY_COMMIT_TREE_H

#include "git/gitobject.h"

struct objectstore;

/*
 * The tree of a commit, and its first parent; "" without one.  -ENOENT: the
 * commit is not there; -EBADMSG: it is none.
 */
int commit_tree(struct objectstore *objects, const char *commit,
		struct git_id *ret_tree);
int commit_tree_parent(struct objectstore *objects, const char *commit,
		       struct git_id *ret_tree, struct git_id *ret_parent);

#endif
