/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/syncer.h"

#include "base/auto.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <fcntl.h>

void syncer_init(struct syncer *s)
{
	s->n = 0;
	s->is_all = false;
}

static void forget(struct syncer *s)
{
	for (size_t i = 0; i < s->n; i++)
		sys_close(s->fds[i]);
	s->n = 0;
}

void syncer_done(struct syncer *s)
{
	forget(s);
}

void syncer_add(struct syncer *s, int dirfd, const char *name, bool is_file)
{
	int fd;

	if (s->is_all)
		return;
	fd = s->n == SYNCER_MAX
		     ? -1
		     : sys_openat(dirfd, name,
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
					  O_NOCTTY |
					  (is_file ? 0 : O_DIRECTORY),
				  0);
	/*
	 * Too many, or a file that we may not read: both are no reason to fail.
	 */
	if (fd < 0) {
		forget(s);
		s->is_all = true;
		return;
	}
	if (is_file)
		(void)sys_sync_range(fd);
	s->fds[s->n++] = fd;
}

int syncer_wait(struct syncer *s, int fs)
{
	auto_fd int dir = -1;
	int r = 0;

	if (s->is_all) {
		dir = sys_openat(fs, ".", O_RDONLY | O_DIRECTORY, 0);
		return dir < 0 ? dir : sys_syncfs(dir);
	}
	for (size_t i = 0; i < s->n && r == 0; i++)
		r = sys_fsync(s->fds[i]);
	return r;
}
