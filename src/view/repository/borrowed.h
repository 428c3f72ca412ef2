/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_BORROWED_H
#define HB_VIEW_BORROWED_H

struct hb_error;
struct run;

/*
 * Without the objects that it borrows (`git clone --shared`, `--reference`) the
 * workspace's repository has no commit to stand on.  Adds a read-only entry for
 * each such directory that host/alternates.h finds and nothing hides; counts
 * the others in the run.
 */
int borrowed_show(struct run *run, struct hb_error *err);

#endif
