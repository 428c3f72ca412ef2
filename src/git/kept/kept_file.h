/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_KEPT_FILE_H
#define HB_GIT_KEPT_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct kept_refs;

/*
 * The record of the repository at `path` (from the base on) in the store's
 * directory `dir`.  With `id` 0 it is that of T0, else of the commit `id`.
 * Loading: -ENOENT also for a torn one.  Storing replaces it at once, or not at
 * all.  That of a commit is durable then; that of T0 is once kept_refs_sync()
 * was called, for a run waits for it.
 */
int kept_refs_load(int dir, const char *path, uint64_t id,
		   struct kept_refs *ret);
int kept_refs_store(int dir, const char *path, uint64_t id,
		    const struct kept_refs *refs);
int kept_refs_sync(int dir, const char *path);
void kept_refs_forget(int dir, const char *path);

/*
 * Removes the records of commits that `is_known` does not know, and records
 * that were cut short.  Such a record would count for a later commit of the
 * same number.
 */
int kept_refs_sweep(int dir, bool (*is_known)(void *ctx, uint64_t id),
		    void *ctx);

/*
 * The commit of that number can be undone no more: in all repositories its
 * record takes the place of T0's, and older ones go first.  Or it can be redone
 * no more, and its record goes.
 */
int kept_refs_settle(int dir, uint64_t id, bool is_in_effect);

/* Whether a file of the store's directory has the name of a record. */
bool kept_refs_is_file(const char *name);

#endif
