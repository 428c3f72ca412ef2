/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_KEPT_TAKE_H
#define HB_GIT_KEPT_TAKE_H

#include "git/gitunit.h"

#include <stdbool.h>

/*
 * Keeps the references of a base's repositories by value, as kept_refs.h has
 * them: of its own, and of its submodules.  Before a box runs, so that the
 * record has the values that the session begins with.
 */
struct kept_refs_request {
	int base, dir;	     /* of the resource */
	enum git_place root; /* of the base */
	/*
	 * Whether the session has references of the repository at that path
	 * that are pending: its record then stays as it is.  NULL: none has.
	 */
	bool (*is_pending)(void *ctx, const char *path);
	void *ctx;
};

/* A repository that cannot be kept has no record, and is treated as files. */
void kept_refs_take(const struct kept_refs_request *request);

#endif
