/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_ALTERNATES_H
#define HB_HOST_ALTERNATES_H

#include <stddef.h>

#define ALTERNATES_MAX 16

/* A directory that a repository borrows objects from. */
struct alternate {
	char *path; /* as git spells it, absolute */
	char *real; /* without links */
};

struct alternates {
	struct alternate list[ALTERNATES_MAX];
	size_t n;
	size_t n_refused; /* named, and none of the list */
};

/*
 * Those that objects/info/alternates of the git directory names, and those that
 * are named there in turn.  The file is text that any program may have written.
 * So one counts only if it is `objects` of a repository of the file's owner.
 * That is the user, but for root, who takes any.  Opens nothing but directories
 * and that file.  -ENOMEM; alternates_done() in any case.
 */
int alternates_find(const char *git_dir, struct alternates *ret);
void alternates_done(struct alternates *alternates);
#define auto_alternates __attribute__((cleanup(alternates_done)))

#endif
