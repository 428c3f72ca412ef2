/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_HOME_AUTHORITIES_H
#define HB_VIEW_HOME_AUTHORITIES_H

struct hb_error;
struct run;

/*
 * Shows the certificates of the file at `path`, which is normalised, if the
 * command has a network and the view lacks the file.  A file that is hidden, or
 * has none, is not shown.
 */
int authority_show(struct run *run, const char *path, struct hb_error *err);

/* The same for the files that variables of the caller name. */
int authorities_show(struct run *run, struct hb_error *err);

#endif
