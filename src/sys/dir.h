/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_DIR_H
#define HB_SYS_DIR_H

#include <stddef.h>
#include <sys/types.h>

/* Directories as lists; conventions of sys/file.h. */

/*
 * The next entries of the directory `fd` as struct k_dirent (sys/kernel.h), one
 * behind the other, each `reclen` long; `block` is aligned for it.  Returns the
 * number of bytes, 0 at the end.
 */
ssize_t sys_getdents(int fd, void *block, size_t size);

#endif
