/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_SHALLOW_H
#define HB_GIT_DELIVERY_SHALLOW_H

struct decision;

/*
 * Whether the session's file `shallow` has all boundaries below which history
 * is missing, and no others.  Where both sides changed it, an item has those of
 * both, and so has `shallow` of the decision.  1: it is right; 0: not, and the
 * words say why.
 */
int shallow_check(struct decision *d);

#endif
