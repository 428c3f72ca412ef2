/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_ALIKE_ALIKE_H
#define HB_CHANGES_ALIKE_ALIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct hb_error;
struct resource;

/*
 * What a box has copied to the upper and left as it was: `touch`, `git status`,
 * a file that is written with the content that it had.  Such a copy says
 * nothing that the user has to be asked about, and must not hide what he writes
 * later.
 *
 * When no box is mounted, alike_note() compares.  What equals below in
 * everything goes; so does an empty directory that does.  A file with the same
 * content and other times stays, because a program may go by them.  It is noted
 * with inode and ctime of both sides.  alike_drop() removes it once the base
 * has another one and the upper has not.
 *
 * (a) An object that differs from below in content, mode, owner, extended
 *     attributes or links stays.  So does an opaque one, and an object that
 *     replaced the noted one.
 * (b) "Below" are the frozen layers and then the base.  Where a layer decides,
 *     nothing is noted: the user's edit would not be seen anyway.
 * (c) Killed at any call, the view is the same in everything: times of
 *     directories are in the list before the first name goes.
 * (d) A missing or unreadable note costs a conflict and no change.
 * (e) Without changes, a noted file is looked at once before a box, in the
 *     base, and once after it, in the upper.
 * (f) Bytes are compared once for each object, at most ALIKE_BYTES_MAX at a
 *     time; what is beyond that has its turn the next time.
 */
#define ALIKE_BYTES_MAX ((uint64_t)1 << 28)

/*
 * With `is_committed` all that was pending is in the base, so that times of a
 * directory are none that are still to come.  Can be killed and called again.
 * A failure may leave things that could have gone, and no more.
 */
int alike_note(const struct resource *resource, bool is_committed,
	       struct hb_error *err);

/*
 * Durable when it returns.  `ret_newest`, which may be NULL, is the latest
 * noted ctime in the upper, or zero.  Writes in the next box must be later.
 */
int alike_drop(const struct resource *resource, struct timespec *ret_newest,
	       struct hb_error *err);

/*
 * Forgets all notes, for a caller that gives objects of the upper other
 * attributes.
 */
int alike_forget(const struct resource *resource, struct hb_error *err);

#endif
