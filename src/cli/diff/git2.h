/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_GIT2_H
#define HB_CLI_DIFF_GIT2_H

struct hb_error;

/*
 * libgit2, of which only the functions on buffers are used: they know no
 * repository and no configuration.
 */

/* Makes it ready, and back; each start has its stop. */
int git2_start(struct hb_error *err);
void git2_stop(void);

/* Fails with its last words: -ENOMEM, or -EIO for anything else. */
int git2_fail(int r, const char *what, struct hb_error *err);

#endif
