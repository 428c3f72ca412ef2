/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_HOME_CHECKOUTS_H
#define HB_VIEW_HOME_CHECKOUTS_H

struct hb_error;
struct run;

/* The most entries that checkouts_hide() adds. */
#define CHECKOUTS_MAX 64

/*
 * Hides projects that lie in a directory of the table of tools which people use
 * for more than that: git checkouts directly in it.  With more of them than the
 * bound the directory itself is hidden.  The entries go to run->entries, which
 * has room.
 */
int checkouts_hide(struct run *run, struct hb_error *err);

#endif
