/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_FAMILY_H
#define HB_STORE_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

struct hb_error;
struct hb_store;

#define LAYERS_DIR "layers"

/*
 * A lock on a family, which is made if need be and if `make` says so; else
 * -ENOENT.
 */
int family_lock(const struct hb_store *store, const char *family, bool make,
		struct hb_error *err);

/*
 * Removes `name` in `dir` with all below it, or with `dry_run` only counts.
 * Nothing there is success.
 */
struct layers_freed;
int layers_remove_tree(int dir, const char *name, bool dry_run,
		       struct layers_freed *freed, struct hb_error *err);

/* What layers_collect() found or removed. */
struct layers_freed {
	uint64_t n, bytes;
};

/*
 * Removes the layers of a family that no session's record names, and the
 * family if none is left.  With `dry_run` only counts.  Where a record cannot
 * be read nothing is removed, and it says so.
 */
int layers_collect(const struct hb_store *store, const char *family,
		   bool dry_run, struct layers_freed *freed,
		   struct hb_error *err);

/* The same for all families. */
int layers_collect_all(const struct hb_store *store, bool dry_run,
		       struct layers_freed *freed, struct hb_error *err);

#endif
