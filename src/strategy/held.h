/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_HELD_H
#define HB_STRATEGY_HELD_H

#include "strategy/baseline.h"
#include "tree/entry.h"

#include <stdbool.h>
#include <stddef.h>

struct resource;

/*
 * The files and directories of a copy that stand for objects that may not be
 * read, by their identity.  A command may have moved, linked or written to
 * them, or to what is above them.
 */
struct held_file {
	enum entry_type type; /* a file or a directory */
	uint64_t ino;
	struct timespec ctime; /* when the baseline was made */
	struct timespec mtime; /* as long as it is not touched */
	char *path;	       /* where it was */
	char *real;	       /* of the real file, below the base */
};

struct held_files {
	struct held_file *files;
	size_t n;
};

/* Finds them in the baseline; few, so they are kept in memory. */
int held_read(const struct resource *resource, const char *boot,
	      struct held_files *ret, struct hb_error *err);
void held_done(struct held_files *held);

/*
 * The held file that this object of the copy is, or the file that was at that
 * path; or NULL.
 */
const struct held_file *held_find(const struct held_files *held,
				  const struct entry *in_copy);
const struct held_file *held_at(const struct held_files *held,
				const char *path);

/* Whether no command wrote to it or changed its attributes. */
bool held_is_untouched(const struct held_file *file,
		       const struct entry *in_copy);

#endif
