/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_INDEXES_H
#define HB_SESSION_GIT_INDEXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * Before a commit of that number is in effect: from then on the index at the
 * path, from the resource on, is that of T0.  Undo returns to the present one.
 */
int indexes_place(const struct hb_session *s, size_t resource, const char *path,
		  uint64_t id, const void *data, size_t size);

/* After an undo, a redo or a recovery: those of the commits in effect count. */
void indexes_restore(const struct hb_session *s);

/*
 * After a commit, when indexes_keep() and all that follows it is done.
 * `is_first`: it delivered a repository.
 */
void indexes_confirm(const struct hb_session *s, bool is_first);

/*
 * The copy of the index of T0 at the path, from the resource on, whichever
 * commits are in effect.  -ENOENT: there is none.
 */
int indexes_open(const struct hb_session *s, size_t resource, const char *path,
		 uint64_t *ret_size);

#endif
