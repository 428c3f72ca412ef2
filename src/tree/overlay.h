/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_OVERLAY_H
#define HB_TREE_OVERLAY_H

#include <stdbool.h>
#include <string.h>

/*
 * The overlay's own extended attributes, as an unprivileged mount writes them.
 * What a program in the view calls user.overlay.X arrives in the layer with
 * the second prefix: data of the user, less one "overlay.".  It stays in the
 * session: on a real file it would be a mark of every overlay above it.
 */
#define OVERLAY_PREFIX	   "user.overlay."
#define OVERLAY_OPAQUE	   "user.overlay.opaque"
#define OVERLAY_ESCAPED	   "user.overlay.overlay."
#define OVERLAY_PRIVILEGED "trusted.overlay." /* the same, as root mounts */

/*
 * Ours, beside `opaque`, while a box is there: the base has the directory only
 * because the session's changes were taken meanwhile.  The kernel does not look
 * into the base's, and a file that it removes here leaves no whiteout.  The
 * value is the entry_place() of the path at which that is so.  A renamed
 * directory has it still, and there `opaque` is the kernel's own.
 */
#define OVERLAY_TAKEN "user.overlay.taken"

/* What the kernel allows for a list of names, and for a value. */
#define OVERLAY_LIST_MAX  65536
#define OVERLAY_VALUE_MAX 65536

/* Whether some overlay would take it for its own, had a real file the name. */
static inline bool overlay_is_reserved(const char *xattr)
{
	return strncmp(xattr, OVERLAY_PREFIX, strlen(OVERLAY_PREFIX)) == 0 ||
	       strncmp(xattr, OVERLAY_PRIVILEGED, strlen(OVERLAY_PRIVILEGED)) ==
		       0;
}

static inline bool overlay_is_escaped(const char *xattr)
{
	return strncmp(xattr, OVERLAY_ESCAPED, strlen(OVERLAY_ESCAPED)) == 0;
}

static inline bool overlay_is_mark(const char *xattr)
{
	return strncmp(xattr, OVERLAY_PREFIX, strlen(OVERLAY_PREFIX)) == 0 &&
	       !overlay_is_escaped(xattr);
}

#endif
