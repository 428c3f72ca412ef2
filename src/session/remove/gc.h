/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_REMOVE_GC_H
#define HB_SESSION_REMOVE_GC_H

#include <stdbool.h>

struct hb_error;
struct hb_session;
struct hb_store;

/*
 * 1: a command ran in the session, and it and its supervisor are dead: the
 * record says active and no process holds the lock.  `ret_is_empty`: nothing is
 * pending in it, nor could be undone.  Changes nothing.
 */
int gc_has_crashed(const struct hb_store *store, const char *name,
		   bool *ret_is_empty);

/*
 * 1: the session was made for a check command of another one, and neither is
 * locked.  The lock of `own`, which the caller holds, does not count; `own` may
 * be NULL.  Changes nothing.
 */
int gc_is_stale_check(const struct hb_store *store, const char *name,
		      const struct hb_session *own);

/* Removes those of them that are for `own`, as far as that goes. */
void gc_remove_checks(const struct hb_session *own);

/*
 * Removes the session of that name with all that it holds; with `if_empty`
 * -HB_E_BUSY if it holds something, which it may since it was judged.
 */
int gc_remove_session(struct hb_store *store, const char *name, bool if_empty,
		      struct hb_error *err);

#endif
