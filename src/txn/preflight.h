/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_PREFLIGHT_H
#define HB_TXN_PREFLIGHT_H

#include "txn/op.h"
#include "txn/site.h"

/*
 * What would make a step fail, asked of every operation before any is made.
 * All refuse with the path, the cause and where there is one the fix.
 */

/* A directory of the base in which names will change. */
int preflight_dir(const struct site *s, int fd, const struct object *dir,
		  const char *path, struct hb_error *err);

/* What lies in the base and will be moved; `dir` is its parent. */
int preflight_old(int dirfd, const struct object *dir, const struct op *op,
		  struct hb_error *err);

/* What goes with a directory that is moved or deleted whole: `path` in it. */
int preflight_inside(const struct entry *old, const char *path,
		     struct hb_error *err);

/*
 * -ENOSPC unless `bytes` can be staged and something is left, which even a
 * commit that only moves needs: for directories, and for what was committed.
 */
int preflight_space(const struct site *s, uint64_t bytes, struct hb_error *err);

#endif
