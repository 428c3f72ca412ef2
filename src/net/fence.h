/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_FENCE_H
#define HB_NET_FENCE_H

/*
 * From here on this process talks over the sockets that it has, and makes
 * sockets of the internet.  It has no file, no program, no other process, no
 * capability.  A call that is not on the list kills it.
 *
 * Without landlock (-ENOSYS, -EOPNOTSUPP) the list alone keeps files away.
 * Failure: nothing may be served.
 */
int fence_close(void);

#endif
