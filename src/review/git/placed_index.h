/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_PLACED_INDEX_H
#define HB_REVIEW_GIT_PLACED_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct deliver;
struct delivered_item;

/*
 * The index that a commit places in a repository, and the index that it was
 * decided by.  A git that only looks at files writes an index anew at any time.
 * It does so before the commit has its lock, and as soon as the lock is free.
 */
struct placed_index {
	char *path; /* from the resource on; NULL: there is none */
	char *data;
	size_t size;
	/* of the base's own, when it was decided */
	uint64_t ino;
	struct timespec ctime;
};

/* Copies what the item has.  Without memory there is no such index. */
void placed_index_note(struct placed_index *index,
		       const struct delivered_item *item);
void placed_index_done(struct placed_index *index);

/*
 * After the commit: these are the indexes of T0, and not those that lie in the
 * base by now.
 */
void placed_index_keep(const struct deliver *deliver);

/*
 * Whether an index of the base has been written since it was decided by.  A
 * commit that failed is then to be decided anew.  The resources are open.
 */
bool placed_index_is_late(const struct deliver *deliver);

#endif
