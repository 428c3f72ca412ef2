/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_HOME_PACKAGE_H
#define HB_VIEW_HOME_PACKAGE_H

struct hb_error;
struct run;

/* The most entries that package_show() adds. */
#define PACKAGES_MAX 4

/*
 * Makes the command visible.  Where it, or the interpreter that its first line
 * names, lies in nothing that the view shows, the directory of its package is
 * added.  That goes to run->entries, which has room.  -HB_E_NOT_FOUND with a
 * fix if there is no such directory, or if it would show more than a package.
 *
 * Called before entries_hide(), which hides things in it like in anything else;
 * package_check() after it, for a command that is one of those.
 */
int package_show(struct run *run, struct hb_error *err);
int package_check(struct run *run, struct hb_error *err);

#endif
