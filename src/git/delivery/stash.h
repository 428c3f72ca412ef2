/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_STASH_H
#define HB_GIT_DELIVERY_STASH_H

struct decision;

/*
 * Adds the items of refs/stash and its log, which is a list of entries.  New
 * ones of both sides are kept, the session's last.  What one side dropped is
 * dropped.  Before packed-refs is decided.
 */
int stash_decide(struct decision *d);

#endif
