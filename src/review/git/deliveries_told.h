/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_DELIVERIES_TOLD_H
#define HB_REVIEW_GIT_DELIVERIES_TOLD_H

struct deliver;

/* Keeps with the session what is told about each repository. */
int deliver_tell(const struct deliver *deliver);

#endif
