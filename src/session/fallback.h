/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_FALLBACK_H
#define HB_SESSION_FALLBACK_H

#include <stdbool.h>

struct hb_error;
struct hb_store;
struct record_resource;

/*
 * Finds out whether the strategy that was asked for can be had for a resource
 * whose store is `dir`, by trying it there, and makes another one effective if
 * not; says so in one line.  Leaves nothing behind.
 *
 * With `is_strict` -HB_E_UNSUPPORTED instead, with the reason.
 */
int fallback_choose(const struct hb_store *store, int dir, bool is_strict,
		    struct record_resource *resource, struct hb_error *err);

#endif
