/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_DIRECT_DIRECT_GIT_H
#define HB_VIEW_DIRECT_DIRECT_GIT_H

struct gate_rules;
struct hb_error;

/* `real` has no links.  A negated code ends the reading with it. */
typedef int (*direct_named_fn)(void *ctx, char *real, struct hb_error *err);

struct direct_config {
	int root;	    /* the directory that it lies in, at some depth */
	const char *source; /* the path of that */
	const char *home;   /* may be NULL */
	/* The work tree, if it does not say so itself; or NULL. */
	const char *worktree;
	const struct gate_rules *rules;
	direct_named_fn named;
	void *ctx;
};

/*
 * Calls `named` with each place, anywhere, that the git configuration at `path`
 * names for git to run or to read.  These are the directory of core.hooksPath
 * and files that are included, which are read as well in the directory.  So are
 * files in values of other keys that the gate asks about.  A relative path is
 * tried from each directory that it could be meant from.
 */
int direct_config_names(const struct direct_config *config, const char *path,
			struct hb_error *err);

#endif
