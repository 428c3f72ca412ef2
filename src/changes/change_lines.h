/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_CHANGE_LINES_H
#define HB_CHANGES_CHANGE_LINES_H

#include "base/sha256.h"

#include <stddef.h>

struct change;
struct changes;
struct changes_request;
struct hb_error;

/*
 * A change set that no walk makes: the lines of a resource that is no
 * directory.  Paths are names in the resource, in the order of a walk.
 */
struct lines {
	struct changes *changes;
	struct sha256 hash;
};

int lines_begin(struct lines *lines, const struct changes_request *request,
		struct hb_error *err);

/* `content` is all that a reviewer has to see again for the same hash. */
int lines_add(struct lines *lines, const struct change *change,
	      const void *content, size_t n, struct hb_error *err);

/* The set, which the caller frees; on failure of any call lines_drop(). */
int lines_end(struct lines *lines, struct changes **ret_changes,
	      struct hb_error *err);
void lines_drop(struct lines *lines);

#endif
