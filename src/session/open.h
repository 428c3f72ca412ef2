/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_OPEN_H
#define HB_SESSION_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct hb_session;
struct seen;
struct timespec;
struct txn;

/*
 * Opens every resource and its store, and verifies that the real directory is
 * the one the session was made for.  gone.h has what is opened where one is not
 * and others are.  Does nothing the second time.
 */
int session_open_resources(struct hb_session *s, struct hb_error *err);

/* What session_make() has open of a resource: the real directory, verified, and
 * its place in the store. */
struct open_given {
	int base, dir;
};

/* The same with these, by resource, which are taken; NULL: there are none. */
int session_open_given(struct hb_session *s, struct open_given *given,
		       struct hb_error *err);
void session_close_resources(struct hb_session *s);

/* A transaction on the session, which owns it; opens the resources. */
int session_txn(struct hb_session *s, struct txn **ret_txn,
		struct hb_error *err);

/*
 * The time on each resource's file system: what changes from now on has a ctime
 * that is not before it.  `ret_times` has room for all resources.
 */
int session_clock(struct hb_session *s, struct timespec *ret_times,
		  struct hb_error *err);

/*
 * Remembers what a transaction applied: begins before it, is told by
 * session_applied() meanwhile, and ends after it.  With `drop_older` all that
 * was remembered before is forgotten.
 */
void session_remember(struct hb_session *s);
int session_applied(void *ctx, size_t resource, const struct seen *seen,
		    struct hb_error *err);
int session_remembered(struct hb_session *s, bool drop_older,
		       struct hb_error *err);

#endif
