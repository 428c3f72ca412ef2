/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_GIT_LACKS_H
#define HB_HOST_GIT_LACKS_H

#include <stdbool.h>

/* What git may have to fetch before it can work on a repository. */
struct git_lacks {
	bool is_partial; /* objects of commits: a partial clone */
	bool has_lfs;	 /* large files, of which the commits have the name */
};

/*
 * Looks at the configuration of a git directory for what tells so, and for a
 * directory of LFS.  What cannot be read tells nothing: it is only a hint.
 */
void git_lacks_find(const char *git_dir, struct git_lacks *ret_lacks);

#endif
