/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_GROUPS_H
#define HB_STRATEGY_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hb_error;
struct resource;

/*
 * A user's box knows one group, the effective one.  An object of the user's own
 * with another group cannot be copied up there: writing, renaming, chmod and
 * making names in it end with EOVERFLOW.  Where the group is one of the user's,
 * an entry with the box's group in the layer makes all of that work.  Commit
 * takes the group from the base.
 */
struct groups_found {
	gid_t gid;
	bool is_member; /* the user is in it */
};

/*
 * Looks at the root, at .git and at the first entries of the base.  Seeks an
 * object of the user's own whose group the box would not know.  1: found, 0:
 * none among those.  Changes nothing.
 */
int groups_probe(int base, struct groups_found *ret_found,
		 struct hb_error *err);

/*
 * Whether the whole tree has to be looked through before each mount.  That
 * needs a user with other groups.  It also needs a root that has one of them or
 * hands its group down, or `asked`.
 */
int groups_matter(int base, bool asked, struct hb_error *err);

/* "'dev'" or "3000", for people. */
void groups_name(gid_t gid, char *ret, size_t size);

/*
 * Puts an entry into the layer for each such object of the base that the layer
 * does not have or hide.  Notes which in the file `groups` beside it.  After a
 * failure, or when it was interrupted, groups_settle() removes what there is.
 */
int groups_prepare(const struct resource *resource, struct hb_error *err);

/* Removes the entries that no command touched.  No box is mounted. */
int groups_settle(const struct resource *resource, struct hb_error *err);

#endif
