/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_FILTER_VIEW_GIT_H
#define HB_PLAN_FILTER_VIEW_GIT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct gitconfig_key;

/*
 * A git-config(1) file as a view shows it: without credentials.  Pure.
 *
 * Left out are the keys of a table, and values that `is_secret` knows.  User
 * and password are cut from a URL, in a value or a section's name.  The rest
 * keeps its meaning for git and its order; comments go.
 */
enum view_git_file {
	VIEW_GIT_INCLUDED,
	VIEW_GIT_PATTERNS,    /* of ignored files, or of attributes */
	VIEW_GIT_AUTHORITIES, /* certificates */
};

struct view_git {
	/* Whether the value of the key is a secret.  May be NULL. */
	bool (*is_secret)(void *ctx, const char *name, const char *value,
			  size_t n);
	/* Hears of each file that a key names, under any condition. */
	void (*file)(void *ctx, enum view_git_file kind, const char *path);
	void *ctx;
	size_t n_left_out; /* grows by each key that was cut or left out */
	bool signs;	   /* set by view_git_signs() of a key */
};

/* Whether the key says that each commit, or each tag, has to be signed. */
bool view_git_signs(const struct gitconfig_key *key);

/*
 * -EINVAL: git would not read it, or it has a NUL; -E2BIG, -ENOMEM.  `out` is
 * of no use then.
 */
int view_git_filter(struct view_git *git, const char *text, size_t n,
		    struct buf *out);

#endif
