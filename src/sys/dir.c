/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/dir.h"

#include "sys/kernel.h"
#include "sys/result.h"

#include <unistd.h>

ssize_t sys_getdents(int fd, void *block, size_t size)
{
	return RESULT(syscall(SYS_getdents64, fd, block, size));
}
