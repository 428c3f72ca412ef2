/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_REFERENCES_H
#define HB_GIT_DELIVERY_REFERENCES_H

struct decision;

/*
 * Adds the items of all references but the stash; after heads_decide().  What
 * cannot go to its own name goes to a branch of the session's name.
 */
int references_decide(struct decision *d);

/* Says how the branch below the session's HEAD is going to move. */
int references_say_forward(struct decision *d);

#endif
