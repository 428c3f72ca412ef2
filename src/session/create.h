/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_CREATE_H
#define HB_SESSION_CREATE_H

#include "store/record.h"

#include <stddef.h>

struct hb_create_options;
struct hb_session;
struct hb_store;

/* -HB_E_STATE if there is a session of that name, -HB_E_USAGE if none may be.
 */
int session_check_new(const struct hb_store *store, const char *name,
		      struct hb_error *err);

/*
 * The origin of a session that does not begin empty.  `fill` gets the
 * directories of each resource's store, where `upper` still lacks its
 * attributes.  It may put T0 back to what is known about the base.
 */
struct session_origin {
	int (*fill)(void *ctx, size_t number, int dir,
		    struct record_resource *resource, struct hb_error *err);
	void *ctx;
};

/* Says which resources have what is pending in themselves. */
void session_say_inside(const struct hb_store *store,
			const struct session_record *record);

/*
 * Makes the session of the record, which gets its id; `origin` NULL: an empty
 * one, as it was asked for.  On failure nothing is left.  Without `ret_session`
 * it is on disk when this returns.  With it nothing is synced, and the session
 * stays open, fresh and with the lock that it was made under.  It has taken
 * what the record owned.  A session that a run makes for itself has begun then,
 * unless session_needs_more() says that it cannot yet.
 */
int session_make(const struct hb_store *store, struct session_record *record,
		 const struct session_origin *origin,
		 const struct hb_create_options *asked,
		 struct hb_session **ret_session, struct hb_error *err);

#endif
