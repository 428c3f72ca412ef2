/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_SYNCER_H
#define HB_TREE_SYNCER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Brings to disk all that must be there before the journal.  Few files are
 * written back at once and waited for one by one: writes of other programs do
 * not hold that up.  For many files the whole file system is synced.
 */
#define SYNCER_MAX 256

struct syncer {
	int fds[SYNCER_MAX];
	size_t n;
	bool is_all;
};

void syncer_init(struct syncer *s);
void syncer_done(struct syncer *s);

/* A file or directory, which is opened; anything else is in its directory. */
void syncer_add(struct syncer *s, int dirfd, const char *name, bool is_file);

/* Waits.  `fs` is any directory of the file system.  0 or -errno. */
int syncer_wait(struct syncer *s, int fs);

#endif
