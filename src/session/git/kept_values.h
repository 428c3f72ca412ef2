/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_KEPT_VALUES_H
#define HB_SESSION_GIT_KEPT_VALUES_H

#include "git/kept/kept_refs.h"

#include <stddef.h>
#include <stdint.h>

struct hb_session;

/*
 * What the references of a session are based on.  The first record is that of
 * T0.  A commit that delivers writes another one, which has the commit's number
 * and counts for as long as that commit is in effect.  So undo and redo need
 * not write any, and a crash leaves the right one.
 */

/* -ENOENT: there is none. */
int session_load_kept(const struct hb_session *s, size_t resource,
		      const char *prefix, struct kept_refs *ret);

int session_store_kept(const struct hb_session *s, size_t resource,
		       const char *prefix, uint64_t id,
		       const struct kept_refs *refs);

#endif
