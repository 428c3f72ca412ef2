/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_REACH_H
#define HB_BOX_REACH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether a process in the network namespace of `pid` looked for an address
 * without a route, or for a service of datagrams in vain.  The latter may be a
 * name server on the loopback.  So a command may have missed the
 * network, and no more than that.  False: no, or it cannot be told.
 */
bool reach_has_failed(pid_t pid);

#endif
