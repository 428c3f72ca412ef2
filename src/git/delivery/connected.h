/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_CONNECTED_H
#define HB_GIT_DELIVERY_CONNECTED_H

struct decision;

/*
 * Whether all that the moved references reach, and no reference of the base, is
 * there: commits, trees and files.  Excepted are the boundaries of a shallow
 * repository.  Of a partial clone, or where the base has alternates, only
 * commits are looked for: what it left out is elsewhere.
 *
 * 1: it is.  0: not, and the words name what is missing; or there is too much
 * to look at.  After the references were decided.
 */
int connected_check(struct decision *d);

#endif
