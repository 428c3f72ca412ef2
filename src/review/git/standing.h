/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_STANDING_H
#define HB_REVIEW_GIT_STANDING_H

#include "git/gitobject.h"

#include <stdbool.h>
#include <stdint.h>

struct deciding;

/* Where the session's HEAD stands beside the user's. */
struct standing {
	char *branch; /* of the session, without refs/heads/; NULL: none */
	/* The user's; NULL: none. */
	char *beside;
	struct git_id then; /* where the session began */
	struct git_id head; /* of the session; "": nothing is known */
	/* Commits that one has and the other has not. */
	uint64_t ahead, behind;
	bool is_merged; /* the user's branch has the session's commit */
};

void standing_done(struct standing *standing);

/* Of what was decided, or of own_tip_read().  -ENOMEM. */
int standing_read(const struct deciding *d, struct standing *ret);

#endif
