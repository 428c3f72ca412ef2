/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_PACK_DELTA_BASES_H
#define HB_GIT_PACK_DELTA_BASES_H

#include "git/gitobject.h"

/*
 * Objects of packs that others are made of, in memory.  The entries of a chain
 * are read one by one, and without these each would inflate all before it.
 * Bounded in bytes and entries; the oldest goes.
 */
#define DELTA_BASES_BYTES ((size_t)64 << 20)

struct delta_bases;
struct gitpack;

/* NULL: no memory. */
struct delta_bases *delta_bases_new(void);
void delta_bases_free(struct delta_bases *bases);

/* Borrowed, until the next delta_bases_add(); NULL: it is not there. */
const struct git_object *delta_bases_find(const struct delta_bases *bases,
					  const struct gitpack *pack,
					  uint64_t offset);

/* Takes the object's data in any case. */
void delta_bases_add(struct delta_bases *bases, const struct gitpack *pack,
		     uint64_t offset, const struct git_object *object);

#endif
