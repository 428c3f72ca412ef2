/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_OWN_TIP_H
#define HB_REVIEW_GIT_OWN_TIP_H

#include <stdbool.h>

struct deciding;
struct hb_error;

/* Whether it is the repository of a work tree on a branch of its own. */
bool own_tip_is_of(const struct deciding *d);

/*
 * Fills in the facts that a merge needs: branch and commit of the session, and
 * the number of commits that the user has not. -HB_E_CONFLICT:
 * its HEAD leads to no commit.
 */
int own_tip_read(struct deciding *d, struct hb_error *err);

#endif
