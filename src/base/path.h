/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_PATH_H
#define HB_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Paths as text.  Nothing here looks at a file system or knows of symbolic
 * links.  A textual answer never decides whether a path is safe to open.
 */

/*
 * The longest path in a tree.  The kernel takes less at once, but a tree is
 * walked by descriptor.
 */
#define PATH_TREE_MAX ((size_t)16 << 20)

/* A piece of a path that was given; not terminated. */
struct path_part {
	const char *s;
	size_t n;
};

enum path_dots {
	PATH_DOTS_REFUSE, /* a ".." is an error */
	PATH_DOTS_FOLD,	  /* "a/../b" becomes "b", as if no link existed */
};

bool path_is_absolute(const char *path);

/* Whether some component is "..". */
bool path_has_dotdot(const char *path);

/*
 * Writes `path` without empty and "." components and without a slash at the
 * end.  What is nothing becomes "/" or ".".  With PATH_DOTS_FOLD a ".." at the
 * root disappears, as it does in the kernel, and at the start of a relative
 * path it stays.
 *
 * Returns the length, -EINVAL for an empty path or a refused "..", or
 * -ENAMETOOLONG when the result and its NUL exceed `size`.  `ret` is undefined
 * after a failure and must not overlap `path`.
 */
int path_normalise(const char *path, enum path_dots dots, char *ret,
		   size_t size);

/*
 * Writes `dir`, one slash and `name`.  Slashes at the start of `name` are
 * skipped: an absolute name is meant below `dir`, as in a new root.  An empty
 * `dir` or `name` adds nothing, not even a slash.  Neither is normalised.
 *
 * Returns the length or -ENAMETOOLONG, as above.
 */
int path_join(const char *dir, const char *name, char *ret, size_t size);

/*
 * Whether `path` is `dir` or lies below it, component by component: not so for
 * "/sandbox-evil" and "/sandbox".  Empty and "." components do not count.  The
 * answer is no if either has a "..", or if only one is absolute.  So a caller
 * that asks in order to forbid normalises first.
 */
bool path_is_beneath(const char *path, const char *dir);

/*
 * The last component, and everything before it.  Slashes at the end are not
 * counted.  "/" gives "/" and "/"; "a" gives "a" and "."; "" gives "." twice.
 * The result points into `path` or to a constant.
 */
struct path_part path_basename(const char *path);
struct path_part path_dirname(const char *path);

/*
 * Gives the next component and moves `*pos`, which starts at the path, behind
 * it.  Skips empty and "." components; gives ".." as it is.  False at the end.
 */
bool path_next(const char **pos, struct path_part *ret);

/*
 * The order of a walk, below, at or above 0: a directory, its entries, then its
 * neighbours.  So a slash sorts before every other byte. "." is the directory
 * that the walk began in, the first of all.
 */
int path_compare(const char *a, const char *b);

/* Whether a name of a directory is its own or its parent's: "." or "..". */
bool path_is_dots(const char *name);

/* Whether the piece is exactly the string. */
bool path_part_is(struct path_part part, const char *s);

#endif
