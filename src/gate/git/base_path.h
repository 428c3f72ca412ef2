/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GIT_BASE_PATH_H
#define HB_GATE_GIT_BASE_PATH_H

#include <limits.h>
#include <stdbool.h>

struct resource;

/*
 * Where a path of a resource's base leads, from that base on, when every link
 * on the way is followed.  Names that are not there yet stay as they are.
 * false: it leaves the resource, or is no path.  The answer is text, for
 * comparing with the paths of changes.
 */
bool base_path_resolve(const struct resource *resource, const char *path,
		       char ret[PATH_MAX]);

/* The same for an absolute path. */
bool base_path_inside(const struct resource *resource, const char *path,
		      char ret[PATH_MAX]);

#endif
