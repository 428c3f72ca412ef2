/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_LINKS_H
#define HB_STRATEGY_LINKS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Files that have several names in their source, and are to have them in their
 * target.  The first copy is kept under its inode number in a directory of the
 * store, and the others are made names of it.  Takes no memory.  Where there
 * are no links each becomes a file of its own.
 */
struct links {
	int dir; /* the store; borrowed */
	int fd;	 /* -1: nothing was kept yet */
};

void links_begin(struct links *links, int dir);
void links_end(struct links *links);

/*
 * Makes `name` in `dir` another name of what was kept from source number `from`
 * with this inode.  Less than 0: there is none, or it cannot be.
 */
int links_reuse(struct links *links, size_t from, uint64_t ino, int dir,
		const char *name);

/* Keeps what lies there.  1: it has another name now, until links_end(). */
int links_keep(struct links *links, size_t from, uint64_t ino, int dir,
	       const char *name);

#endif
