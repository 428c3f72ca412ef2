/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_STRATEGY_FALLBACK_H
#define HB_SESSION_STRATEGY_FALLBACK_H

struct hb_error;
struct hb_create_options;
struct hb_store;
struct record_resource;

struct fallback_place {
	int base;	  /* the real directory */
	int dir;	  /* the resource's store */
	const char *boot; /* the boot id */
};

/*
 * Finds out whether the strategy that was asked for can be had for a resource
 * at `place`, by trying it there, and makes another one effective if not; says
 * so in one line.  Leaves nothing behind.
 *
 * Without fallback -HB_E_UNSUPPORTED instead, with the reason.
 *
 * STATE/tried remembers between which file systems it worked.
 */
int fallback_choose(const struct hb_store *store,
		    const struct fallback_place *place,
		    const struct hb_create_options *asked,
		    struct record_resource *resource, struct hb_error *err);

#endif
