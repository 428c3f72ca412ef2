/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_STRATEGY_FALLBACK_H
#define HB_SESSION_STRATEGY_FALLBACK_H

struct hb_error;
struct hb_create_options;
struct hb_store;
struct record_resource;
struct resource;

/*
 * Finds out whether the strategy that was asked for can be had for a resource
 * that is being made.  If not, makes the next strategy of the table effective
 * and says so in one line.  Base and directory of the resource are open.
 * Leaves nothing behind.
 *
 * Without fallback -HB_E_UNSUPPORTED instead, with the reason.
 *
 * STATE/tried remembers between which file systems an overlay worked.
 */
int fallback_choose(const struct hb_store *store, const char *boot,
		    const struct hb_create_options *asked,
		    const struct resource *resource,
		    struct record_resource *record, struct hb_error *err);

#endif
