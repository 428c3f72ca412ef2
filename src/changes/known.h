/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_KNOWN_H
#define HB_CHANGES_KNOWN_H

#include "changes/spill.h"

#include <stdbool.h>

/*
 * The differences that an earlier scan found, so that an untouched file is not
 * read again to find the same.
 *
 * (a) Only a difference is believed, never equality, and only of objects whose
 *     every attribute, the ctime among them, is unchanged.  That may be wrong:
 *     a write through a mapping moves no clock at once.  Then a file is listed
 *     although its content has become that of the base.  No change is hidden.
 * (b) It is the stream of that scan, under its given name, and of use until the
 *     next boot.  The rest that a crash left is not read.
 */
struct known {
	struct spill spill;
	struct spilled record; /* the next one in the stream */
	bool has_record;
	uint64_t n_read; /* records, with the next one */
};

/* What cannot be read is not known: there is no failure. */
void known_open(struct known *known, int dir, const char *name,
		const char *boot);
void known_done(struct known *known);

/* The same of a stream that the caller has checked; takes the file. */
void known_begin(struct known *known, int file, uint64_t size);

/* Leaves the next record out. */
void known_skip(struct known *known);

/*
 * The change at a path, or NULL; valid until the next call.  Paths have to be
 * asked for in the order of a walk.
 */
const struct spilled *known_find(struct known *known, const char *path);

/* Keeps a stream under the name instead of what is there; may do nothing. */
void known_keep(struct spill *spill, int dir, const char *name,
		const char *boot);

#endif
