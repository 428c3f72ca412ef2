/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_DIVERT_H
#define HB_GIT_DELIVERY_DIVERT_H

struct decision;

/*
 * Delivers a value under a name of our own: refs/heads/holdback/SESSION for a
 * commit, refs/tags/holdback/SESSION for a tag, the next free number where that
 * is taken.  A branch that a delivery made before, and that did not move
 * since, is moved on.  `origin` is what it was called.  `*ret_name` is to be
 * freed; NULL: the value is neither, or too many names are taken.
 */
int divert(struct decision *d, const char *origin, const char *value,
	   char **ret_name);

/* Adds the item of a reference that gets a value. */
int divert_write(struct decision *d, const char *name, const char *value);

#endif
