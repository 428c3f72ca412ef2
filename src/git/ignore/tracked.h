/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_IGNORE_TRACKED_H
#define HB_GIT_IGNORE_TRACKED_H

#include "base/siphash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * Which paths a repository's index has: as 64 bits of each, and of each
 * directory above one, by a random key.  So an index of a million entries takes
 * 16 MiB, with paths of any length.
 */
#define TRACKED_MAX ((size_t)1 << 22)

struct tracked {
	struct siphash_key key;
	uint64_t *slots; /* open addressing; 0: free */
	size_t room, n;
};

/*
 * Reads `index` in the directory `git`.  1: it was read; none there is one
 * without entries.  0: it cannot be read or understood, or has too many paths.
 * -ENOMEM.
 */
int tracked_read(struct tracked *tracked, int git, struct hb_error *err);
void tracked_done(struct tracked *tracked);

/*
 * Whether a path, relative to where the repository's files are, is in the index
 * or is a directory above something that is.
 */
bool tracked_has(const struct tracked *tracked, const char *path, size_t len);

#endif
