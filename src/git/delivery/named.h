/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_NAMED_H
#define HB_GIT_DELIVERY_NAMED_H

struct decision;

/*
 * Instead of all other parts, with `as_ref` of the request: adds the item of
 * that reference if the session has commits for it.  Without any there is no
 * branch in the delivery.  A session that has other commits there is refused.
 */
int named_decide(struct decision *d);

/* When all else is said to be pending: this one moves all the same. */
int named_go_on(struct decision *d);

#endif
