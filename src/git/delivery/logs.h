/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_LOGS_H
#define HB_GIT_DELIVERY_LOGS_H

struct decision;

/*
 * Adds the items of all logs but the stash's; after references and HEADs.  The
 * base's log stays as it is, and the session's lines are added behind it.  They
 * begin with the line whose old value is the base's last new one.  Where there
 * is no such line, one line of our own says that the reference moved.
 */
int logs_decide(struct decision *d);

#endif
