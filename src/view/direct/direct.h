/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_DIRECT_DIRECT_H
#define HB_VIEW_DIRECT_DIRECT_H

struct hb_error;
struct run;

/*
 * `run --direct`: writes in the workspace are real, but for files that make
 * programs of the user run something.  The rules of the gate say which these
 * are: all rules that ask and need no more than a path count, at any depth.
 * With them count the places that git's configuration and links lead to.
 * Existing ones are read-only, and the directories they lie in cannot be
 * renamed.  New ones, or others than before, are told of.  Nothing is made on
 * the host for that.
 */

/* The most entries that direct_protect() adds. */
#define DIRECT_MAX 4000

/*
 * Adds to run->entries, which has room; resources and what is hidden are known.
 * -HB_E_USAGE with a fix where there is too much to protect.
 */
int direct_protect(struct run *run, struct hb_error *err);

/*
 * Reports each path that was not there before and is now, or is something else:
 * a few, and how many more there are.  After the box.
 */
void direct_tell_new(struct run *run);

#endif
