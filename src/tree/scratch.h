/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_SCRATCH_H
#define HB_TREE_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * A file without a name for what one command has to remember.  It lies in a
 * directory of ours.  Where that is full or cannot be written it is in memory,
 * so that a session can still be looked at.
 */

/* A negated errno only if there can be none in memory either. */
int scratch_open(int dir);

/*
 * Writes all of it.  Where the disk is full what was written before `offset`
 * goes to memory, and *fd is another one then.  At most so much is kept there:
 * -ENOSPC.
 */
#define SCRATCH_MEMORY_MAX ((uint64_t)256 << 20)
int scratch_write(int *fd, const void *data, size_t len, uint64_t offset);

#endif
