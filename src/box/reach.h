/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_REACH_H
#define HB_BOX_REACH_H

#include <stdint.h>
#include <sys/types.h>

/*
 * How often processes in the network namespace of `pid` looked for an address
 * without a route, or for a service of datagrams in vain.  The latter may be a
 * name server on the loopback.  So a command may have missed the network, and
 * no more than that.  0: never, or it cannot be told.
 */
uint64_t reach_failures(pid_t pid);

#endif
