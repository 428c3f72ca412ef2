/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_ALIKE_ALIKE_LIST_H
#define HB_CHANGES_ALIKE_ALIKE_LIST_H

#include "changes/spill.h"

/*
 * The file of alike.h: a stream of records in the order of a walk, behind a
 * head with length and sum.  A file that is cut, changed or of another version
 * counts as none: to forget is safe.
 *
 * A record is about what the upper has at a path, `change.new`, and what lay
 * below it then, `change.old`:
 *
 *	ALIKE_SAME	they hold the same and the base has the latter; of a
 *			directory: it has the same attributes
 *	ALIKE_OTHER	they do not, or a frozen layer has it
 *
 * The first record is "." for the top of the upper.
 */
#define ALIKE_SAME  CHANGE_TIMES
#define ALIKE_OTHER CHANGE_MODIFIED

/* In `change.flags`: the upper's is about to be removed. */
#define ALIKE_GOES CHANGE_MOVED_AWAY

#define ALIKE_LIST     "alike"
#define ALIKE_LIST_NEW "alike.new"

#define ALIKE_MAX ((uint64_t)1 << 20) /* records */

/*
 * For spill_resume() or known_begin(); -ENOENT: there is none, or none of use.
 */
int alike_list_open(int dir, const char *name, uint64_t *ret_size);

/* Begins one under the name, which is of no use before it is whole. */
int alike_list_begin(struct spill *list, int dir, const char *name,
		     struct hb_error *err);

/*
 * It is whole.  Not synced: what is lost with the machine is as if never
 * written.
 */
int alike_list_end(struct spill *list, struct hb_error *err);

#endif
