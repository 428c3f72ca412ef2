/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_TOUCHED_H
#define HB_GIT_DELIVERY_TOUCHED_H

struct decision;

/*
 * Which paths of the work tree the session's commits touch: between the commit
 * below HEAD at T0 and the session's.  Those that are held are told, too.
 */
int touched_find(struct decision *d);

#endif
