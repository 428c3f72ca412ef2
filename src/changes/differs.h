/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_DIFFERS_H
#define HB_CHANGES_DIFFERS_H

#include "git/gitunit.h"
#include "tree/compare.h"

#include <stdbool.h>

/* Two objects of one type at one path, the new one in a layer. */
struct pair {
	struct side new, old;
	enum git_place git; /* of the directory */
};

/*
 * What differs, enum change_what; 0: nothing that a commit would carry.  An
 * index with the same entries is the same, with any extensions and at any time.
 * With `names_only` the attributes of what has another content are not looked
 * at, as CHANGED_MAYBE_XATTRS says.
 */
int pair_differs(const struct pair *pair, const struct xattrs *new_xattrs,
		 bool names_only, struct hb_error *err);

#endif
