/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_TAKEOVER_H
#define HB_SESSION_LIVE_TAKEOVER_H

#include <stdbool.h>

struct entry;
struct resource;
struct seen_file;

/*
 * A directory that the box made in the place of the base's, and that was
 * committed.  Whether nothing in the base below it is still to be deleted.  If
 * so it may be marked OVERLAY_TAKEN, and a file that the user puts there is
 * his.
 *
 * That is so if each object of the base there was committed from the upper's.
 * Those that are younger than the session and not in the upper do not count. If
 * in doubt, or of more than some thousand objects, it is not so.
 */
bool takeover_can(const struct resource *resource, struct seen_file *seen,
		  const char *path, const struct entry *entry);

/* Whether that directory of the upper was committed there. */
bool takeover_is_same(struct seen_file *seen, const char *path,
		      const struct entry *entry);

#endif
