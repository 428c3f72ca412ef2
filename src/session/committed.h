/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_COMMITTED_H
#define HB_SESSION_COMMITTED_H

#include "base/siphash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The paths of a resource that the commits of a session are about.  They come
 * from the journals of the commits that are in effect and can still be undone.
 * A rollback is none, and neither is what was undone.  Paths beyond
 * COMMITTED_MAX are not known.
 */
#define COMMITTED_MAX ((size_t)1 << 20)

struct committed_path {
	uint64_t hash;
	uint64_t id;   /* of the last commit with it */
	bool is_whole; /* with all that is in it */
};

struct committed {
	struct siphash_key key;
	struct committed_path *list; /* by hash, then with the last id first */
	size_t n;
};

/*
 * Reads those from number `first` on.  A journal that cannot be read is as one
 * that is gone.  After a failure nothing is known; committed_done() in any
 * case.
 */
int committed_load(struct committed *c, int session, size_t resource,
		   uint64_t first);
void committed_done(struct committed *c);

/* Whether a commit with this number or a higher one is about the path. */
bool committed_since(const struct committed *c, const char *path,
		     uint64_t first);

#endif
