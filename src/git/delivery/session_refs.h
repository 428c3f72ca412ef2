/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_SESSION_REFS_H
#define HB_GIT_DELIVERY_SESSION_REFS_H

struct decision;

/*
 * Reads the values of the base and of the session into the decision.  A
 * reference that the session did not touch has the base's value, because that
 * is what the session sees.  -ENOTSUP as kept_refs_look(); -EBADMSG: HEAD or
 * packed-refs of the session cannot be understood.
 */
int session_refs_read(struct decision *d);

#endif
