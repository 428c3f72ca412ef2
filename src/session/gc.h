/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GC_H
#define HB_SESSION_GC_H

#include <stdbool.h>

struct hb_error;
struct hb_store;

/*
 * 1: a command ran in the session, and it and its supervisor are dead: the
 * record says active and nobody holds the lock.  `ret_is_empty`: nothing is
 * pending in it, nor could be undone.  Changes nothing.
 */
int gc_has_crashed(const struct hb_store *store, const char *name,
		   bool *ret_is_empty);

/* Removes the session of that name with all that it holds. */
int gc_remove_session(struct hb_store *store, const char *name,
		      struct hb_error *err);

#endif
