/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_REFERENCES_H
#define HB_GIT_DELIVERY_REFERENCES_H

#include <stddef.h>

struct decision;

/*
 * Adds the items of all references but the stash; after heads_decide().  What
 * cannot go to its own name goes to a branch of the session's name.
 */
int references_decide(struct decision *d);

/* How many commits the value has that no reference of the base reaches. */
int references_count(struct decision *d, const char *value, size_t *ret);

/* The branch that the commits go to, with what there is to say about it. */
int references_set_branch(struct decision *d, const char *name,
			  const char *value);

/* Says how the branch below the session's HEAD is going to move. */
int references_say_forward(struct decision *d);

#endif
