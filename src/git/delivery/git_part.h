/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_GIT_PART_H
#define HB_GIT_DELIVERY_GIT_PART_H

#include "git/gitunit.h"

#include <stddef.h>

/* What a path of a git directory is for a delivery. */
enum git_part {
	GIT_PART_OBJECT,    /* an object, or a pack with its index */
	GIT_PART_CACHE,	    /* git can make it again: never delivered */
	GIT_PART_LOCK,	    /* of a git process: never delivered */
	GIT_PART_REF,	    /* below refs/ */
	GIT_PART_PACKED,    /* packed-refs */
	GIT_PART_HEAD,	    /* of a desk */
	GIT_PART_LOG,	    /* below logs/ */
	GIT_PART_INDEX,	    /* of a desk */
	GIT_PART_NOTE,	    /* for git's next command or a person */
	GIT_PART_OPERATION, /* of a merge, rebase or the like */
	GIT_PART_SHALLOW,
	GIT_PART_OTHER,
};

/*
 * A desk is where a HEAD and an index lie: the git directory itself, "", or
 * "worktrees/NAME".  `ret_rest` is the path from there on, in `path`, and
 * `ret_desk` how many bytes of it are the desk.
 */
enum git_part git_part_of(const char *path, size_t *ret_desk,
			  const char **ret_rest);

/* A name at a desk that says that an operation is under way. */
struct git_operation {
	const char *name;
	const char *words;
};
extern const struct git_operation git_operations[];
extern const size_t git_operations_n;

/*
 * Words for what git is at, if the path is a lock of git or such a name.  Else
 * NULL.  The path is that from the root of a resource on.
 */
const char *git_under_way(enum git_place root, const char *path);

#endif
