/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_SHALLOW_H
#define HB_GIT_DELIVERY_SHALLOW_H

#include <stdbool.h>

struct decision;
struct git_id;
struct objectstore;

/*
 * Boundaries of both sides, by value: lines of `shallow`.  What a side added or
 * took away since T0 is taken, with two exceptions.  A boundary that history is
 * missing below stays.  A boundary that would only cut history off is not made.
 * Both are said.  No commit can be lost by it, so nothing is refused.
 *
 * Adds the item of a changed `shallow`, and leaves all boundaries that there
 * are going to be in `shallow` of the decision.  1; 0: the file cannot be read,
 * which was said; -ENOMEM.
 */
int shallow_decide(struct decision *d);

/* Whether the id is a parent of a commit at a boundary of the text. */
bool shallow_is_beyond(struct objectstore *objects, const char *text,
		       const struct git_id *id);

#endif
