/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_CONTENTS_H
#define HB_TXN_CONTENTS_H

#include "txn/site.h"

#include <stdint.h>

/*
 * A number for everything in a directory that is moved whole.  An operation has
 * it as `entries` of the object.  Before the directory leaves the base the
 * number is compared.  Another program may have put a file into it, and that
 * file stays where it was put.
 *
 * It is about names, types and modes, and about inode, size and time of files.
 * None of these changes when a commit takes the marks of a layer off.
 */
struct tree_visit;

/* Adds what a walk meets; begins with 0, ends with contents_end(). */
void contents_add(uint64_t *sum, const struct tree_visit *v);

/* Never 0, which says that it was not told. */
uint64_t contents_end(uint64_t sum);

/* Of a directory as it is now; 0: that cannot be told.  Changes nothing. */
uint64_t contents_read(const struct place *at);

/* Whether it still has that number, none was told, or it is closed to us. */
bool contents_are(const struct place *at, uint64_t entries);

#endif
