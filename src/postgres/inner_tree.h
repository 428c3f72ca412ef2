/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_INNER_TREE_H
#define HB_POSTGRES_INNER_TREE_H

#include <stdbool.h>

struct hb_error;

/*
 * A directory tree of ours in a box, where openat2(2) is missing: tree/tree.h
 * cannot be used there.  No link is followed.
 */
#define INNER_DEPTH_MAX 64

/* `path` begins below the directory of the walk; `name` lies in `dir`. */
typedef int (*inner_fn)(void *ctx, int dir, const char *name, const char *path,
			struct hb_error *err);

/* Calls `fn` with each object that is no directory; it may remove it. */
int inner_each(int dir, inner_fn fn, void *ctx, struct hb_error *err);

/* Removes `name` with all that is in it; nothing there is success. */
int inner_remove(int dir, const char *name, struct hb_error *err);

#endif
