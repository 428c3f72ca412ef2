/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_GIT_REACH_H
#define HB_TXN_GIT_REACH_H

#include <time.h>

struct apply;
struct hb_error;

/*
 * Whether the references of a transaction may be taken back.  -HB_E_CONFLICT:
 * its commits are reached from elsewhere, by a reference, a HEAD or a log that
 * the transaction did not write.  Only files that changed since `stamp` are
 * read: no older file can know such a commit.
 */
int git_reach_check(struct apply *a, struct timespec stamp,
		    struct hb_error *err);

#endif
