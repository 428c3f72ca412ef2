/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/scratch.h"

#include "base/auto.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define COPY_SIZE ((size_t)64 << 10)

static bool has_no_room(int r)
{
	return r == -ENOSPC || r == -EDQUOT;
}

int scratch_open(int dir)
{
	int fd = sys_unnamed_file(dir);

	if (has_no_room(fd) || fd == -EROFS || fd == -EACCES || fd == -EPERM)
		fd = sys_memory_file();
	return fd;
}

static int move_to_memory(int *fd, uint64_t size)
{
	auto_free char *block = malloc(COPY_SIZE);
	auto_fd int memory = sys_memory_file();
	int r = 0;

	if (!block || memory < 0)
		return block ? memory : -ENOMEM;
	for (uint64_t at = 0; r >= 0 && at < size; at += COPY_SIZE) {
		size_t want =
			size - at < COPY_SIZE ? (size_t)(size - at) : COPY_SIZE;
		ssize_t n = sys_pread_full(*fd, block, want, at);

		r = n < 0 ? (int)n
			  : sys_pwrite_all(memory, block, (size_t)n, at);
	}
	if (r < 0)
		return r;
	sys_close(*fd);
	*fd = take_fd(&memory);
	return 0;
}

int scratch_write(int *fd, const void *data, size_t len, uint64_t offset)
{
	int r = sys_pwrite_all(*fd, data, len, offset);

	if (!has_no_room(r) || offset + len > SCRATCH_MEMORY_MAX)
		return r;
	r = move_to_memory(fd, offset);
	return r < 0 ? r : sys_pwrite_all(*fd, data, len, offset);
}
