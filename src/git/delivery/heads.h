/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_HEADS_H
#define HB_GIT_DELIVERY_HEADS_H

#include <stdbool.h>
#include <stddef.h>

struct decision;

/* Reasons why HEAD stays; any other one is words by itself. */
extern const char heads_asked[], heads_moved[], heads_elsewhere[];

/*
 * Decides whether HEAD, the index and the branch below may move, and finds the
 * branches that must not: `is_forward` to `why_name` and `pinned`.
 */
int heads_decide(struct decision *d);

/* Adds the items of all HEADs; after the references were decided. */
int heads_add_items(struct decision *d);

/* The text of a file that has the value; NULL: no memory. */
char *heads_text(const char *value);

/* Whether that branch may not be moved: a desk of the base is on it. */
bool heads_is_pinned(const struct decision *d, const char *name);

/*
 * Whether the path of `desk` bytes is a linked worktree that the user has
 * removed.  He may have made it after T0: then the session has no HEAD for it.
 */
bool heads_is_removed_desk(const struct decision *d, const char *path,
			   size_t desk);

#endif
