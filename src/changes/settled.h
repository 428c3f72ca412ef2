/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_SETTLED_H
#define HB_CHANGES_SETTLED_H

#include "changes/conflict.h"

struct resource;
struct sighting;

/*
 * What is left of a conflict about a file that git writes all the time, on both
 * sides.  An index that git only wrote anew is the index of before.  Of a note,
 * git_is_note(), the host's version stays, and the change is marked: it stays
 * behind as locks do.  So it is with info/refs, a list that git makes of
 * references.  An object that is gone outside was packed, and its
 * directory with it.
 */
enum conflict settled_by_git(const struct resource *resource,
			     const struct sighting *s, struct change *change,
			     enum conflict conflict);

/*
 * Whether it is a conflict about an object that the base does not have, for a
 * directory above it alone.  A commit that was taken back leaves such a
 * directory with its old time and a new change time, as a move does.  An object
 * is its name, wherever its directory comes from.
 */
bool settled_new_object(const struct resource *resource,
			const struct sighting *s, enum conflict conflict);

/*
 * Whether the change would replace an object or a pack of git in the base.  An
 * object is its name, so another content under it is damage, and stays behind.
 */
bool settled_object(const struct resource *resource, const struct sighting *s,
		    const struct change *change);

#endif
