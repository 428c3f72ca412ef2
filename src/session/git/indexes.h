/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_INDEXES_H
#define HB_SESSION_GIT_INDEXES_H

struct hb_session;
struct resource;

/*
 * Keeps git's indexes and references of the real directories as they are at
 * T0, as git/kept_index.h and git/kept_take.h say.  Without it more is a
 * conflict, so nothing fails.
 */

/* Of a resource that is being made. */
void indexes_keep_first(const struct resource *resource);

/* After a commit, an undo or a redo: T0 or what it means has moved. */
void indexes_keep(const struct hb_session *s);

#endif
