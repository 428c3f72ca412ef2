/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_LANDLOCK_H
#define HB_SYS_LANDLOCK_H

#include <stdint.h>

/* Landlock with K_LANDLOCK_* of sys/kernel.h; conventions of sys/file.h. */

/* The kernel's ABI, 1 or more; -ENOSYS, -EOPNOTSUPP: none. */
int sys_landlock_abi(void);

/*
 * A ruleset that handles these rights.  The size of the argument follows from
 * them, so an older kernel takes older rights.
 */
int sys_landlock_create(uint64_t fs, uint64_t scoped);

/* Allows `access` at and below the object that `fd` refers to. */
int sys_landlock_allow(int ruleset, int fd, uint64_t access);

/* From here on; no_new_privs must be set. */
int sys_landlock_restrict(int ruleset);

#endif
