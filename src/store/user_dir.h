/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_USER_DIR_H
#define HB_STORE_USER_DIR_H

#include <sys/types.h>

struct hb_error;

/* Directories that must be the user's own. */

/* Makes each missing directory of an absolute path, 0700. */
int user_dir_make(const char *path, struct hb_error *err);

/*
 * Checks that `fd`, which is `name` in messages, is ours and has none of the
 * bits of `forbidden`: -HB_E_STATE.  `other` is the fix for a directory of
 * another user.
 */
int user_dir_check(int fd, const char *name, mode_t forbidden,
		   const char *other, struct hb_error *err);

#endif
