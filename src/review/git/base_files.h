/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_BASE_FILES_H
#define HB_REVIEW_GIT_BASE_FILES_H

#include "tree/entry.h"

#include <stdbool.h>
#include <stddef.h>

/* The files of a repository in the base that a delivery may replace. */
struct base_file {
	char *path; /* from the resource on */
	struct entry entry;
};

struct base_files {
	struct base_file *files; /* sorted by path, as strcmp() does */
	size_t n;
};

/*
 * Looks at everything in the git directory `prefix` but objects and the like.
 * Nothing is opened but directories.
 */
int base_files_read(int base, const char *prefix, struct base_files *ret);
void base_files_done(struct base_files *files);

/* ENTRY_NONE: nothing was there. */
void base_files_get(const struct base_files *files, const char *path,
		    struct entry *ret);

/*
 * Finds the directory in `above` that the descriptor is of: "above/NAME".
 * false: none is.
 */
bool base_files_find_dir(int base, const char *above, int fd, char *ret,
			 size_t size);

#endif
