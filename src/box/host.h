/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_HOST_H
#define HB_BOX_HOST_H

#include <stdbool.h>
#include <stddef.h>

struct hb_error;

/*
 * What a front end asks of the host before there is a box.  The signatures are
 * those of struct bwrap_world; `ctx` is not used.
 */

/* Reads `fd` to its end and closes it; *ret_data comes from malloc. */
int host_read_fd(void *ctx, int fd, char **ret_data, size_t *ret_len,
		 struct hb_error *err);

bool host_is_root(void);
unsigned host_gid(void);
bool host_can_unshare_user(void *ctx);
bool host_can_unshare_cgroup(void *ctx);

/*
 * Refuses a caller with capabilities that is not root.  They would come from
 * file capabilities on our executable, which this program does not support.
 */
int host_check_caller(struct hb_error *err);

#endif
