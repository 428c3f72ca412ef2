/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGE_BLOB_NAME_H
#define HB_REVIEW_GIT_MERGE_BLOB_NAME_H

#include "git/gitobject.h"
#include "git/gittree.h"

#include <stddef.h>

struct content_place;
struct entry;
struct hb_error;

/*
 * The name that the bytes of a file or the target of a link have as an object
 * of git, without filters.  Takes no more memory for a large file.  `digits` is
 * 40 or 64.
 */
int blob_name(const struct content_place *place, size_t digits,
	      struct git_id *ret, struct hb_error *err);

/* The mode that git has for a file or link. */
enum gittree_mode blob_mode(const struct entry *entry);

#endif
