/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_HOME_GITFILES_H
#define HB_VIEW_HOME_GITFILES_H

struct hb_error;
struct run;

/* The most files that git's configuration may be spread over. */
#define GIT_FILES_MAX 16

/*
 * The user's git configuration, and every file that it includes, become files
 * of the view's own, without what logs in (plan/filter/view_git.h).
 * run->entries has the shown ones, and room for the others.  A file that git
 * would not read, or that lies where something is hidden, is not shown.
 * run->n_git_keys and run->n_git_files count what is left out.  run->signs says
 * whether these, the system's or a repository's own file wants commits or tags
 * to be signed.
 */
int gitfiles_find(struct run *run, struct hb_error *err);

#endif
