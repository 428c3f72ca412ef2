/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_KEPT_KEPT_PLACED_H
#define HB_GIT_KEPT_KEPT_PLACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies of indexes by the number of the commit after which they were those of
 * T0; 0 is before all.  Undo, redo and recovery change which commits are in
 * effect, and with that which copy is the one of kept_index.h.  They lie beside
 * the records of references (kept_refs.h), and are swept and settled with them.
 */
#define KEPT_PLACED_PREFIX "placed-"

/* Durable, and replaced at once or not at all. */
int kept_placed_store(int dir, const char *path, uint64_t id, const void *data,
		      size_t size);

/*
 * The copy of kept_index.h becomes that of the number, unless there is one.
 * Without such a copy nothing is kept.
 */
int kept_placed_begin(int dir, const char *path, uint64_t id);

/*
 * For each index, its copy of the largest of these numbers, or of 0, becomes
 * that of kept_index.h.
 */
int kept_placed_restore(int dir, const uint64_t *ids, size_t n);

/*
 * The copies of kept_index.h are those after that commit, from now on.  Unless
 * it is the first time, nothing is done where that was never said.
 */
int kept_placed_confirm(int dir, uint64_t id, bool is_first);

/*
 * The copy of the index that counts while the commits of these numbers are in
 * effect, the last of them `last`.  It is that of kept_index.h, if that was
 * confirmed.  A kill or a power cut leaves it to another commit; then it is
 * found by its number.  -ENOENT: there is none.
 */
int kept_placed_open(int dir, const char *path, const uint64_t *ids, size_t n,
		     uint64_t last, uint64_t *ret_size);

#endif
