/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_TREE_INDEX_H
#define HB_GIT_DELIVERY_TREE_INDEX_H

struct buf;
struct objectstore;

/*
 * Adds the index that `git read-tree` makes of a commit, without stat data and
 * without a sum.  -ENOENT, -EBADMSG, -EFBIG as treediff_run().
 */
int tree_index_make(struct objectstore *objects, const char *commit,
		    struct buf *out);

#endif
