/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_GIT_USER_H
#define HB_HOST_GIT_USER_H

#include "base/gitconfig.h"

#include <stdbool.h>

struct hb_error;

/*
 * git's configuration as the system and the user have it, and nothing of a
 * repository: for programs that are run on the host.
 *
 * Files that are included count, in their place, without a condition and with
 * `gitdir:`.  Files with another condition, and those that `is_foreign` names,
 * are passed over.
 */
#define GIT_USER_DEPTH	  8
#define GIT_USER_FILES	  32
#define GIT_USER_FILE_MAX ((size_t)1 << 20)

struct git_user {
	char *const *envp;
	const char *git_dir; /* absolute: for conditions */
	bool (*is_foreign)(void *ctx, const char *path); /* may be NULL */
	gitconfig_fn add; /* hears each key; a later one counts */
	void *ctx;	  /* of both */
};

/* A missing file says nothing; a file that git would not read is an error. */
int git_user_read(const struct git_user *user, struct hb_error *err);

/* "~/x" is in the home directory.  False: it does not fit into `size`. */
bool git_user_expand(char *const *envp, const char *path, char *out,
		     size_t size);

#endif
