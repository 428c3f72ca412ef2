/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_CLOSED_H
#define HB_VIEW_CLOSED_H

struct hb_error;
struct run;

/*
 * The part of the host's /etc that others may not read, as entries that hide
 * it.  These are files without the right to read for others, and directories
 * without that or the right to enter.  Only for root, who would own most of it
 * inside as well.  The modes themselves keep out any other user's box.
 *
 * As the host has it now, by descriptor.  A directory in which there is more to
 * look at than the bounds of closed.c is hidden whole; run->n_closed_whole
 * counts these.  The last to add to run->entries: it makes them larger.
 */
int closed_find(struct run *run, struct hb_error *err);

#endif
