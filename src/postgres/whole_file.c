/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/whole_file.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHUNK ((size_t)64 << 10)
#define FRESH ".new"

static_assert(WHOLE_HEX_SIZE == SHA256_HEX_SIZE, "a digest fits");

/* An empty file beside `name`, under the name that it has until it is whole. */
static int open_fresh(int dir, const char *name, char ret[NAME_MAX + 8])
{
	int r = snprintf(ret, NAME_MAX + 8, "%s" FRESH, name);

	if (r > NAME_MAX)
		return -ENAMETOOLONG;
	r = sys_unlinkat(dir, ret, 0);
	if (r < 0 && r != -ENOENT)
		return r;
	return sys_openat(dir, ret, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
			  0600);
}

static int finish(int dir, int fd, const char *fresh, const char *name, int r,
		  struct hb_error *err)
{
	if (r >= 0)
		r = sys_fsync(fd);
	if (r >= 0)
		r = sys_renameat(dir, fresh, dir, name);
	if (r >= 0)
		return 0;
	(void)sys_unlinkat(dir, fresh, 0);
	return hb_fail(err, r, "cannot write '%s'", quoted(name));
}

int whole_put(int dir, const char *name, const void *bytes, size_t n,
	      struct hb_error *err)
{
	char fresh[NAME_MAX + 8];
	auto_fd int fd = open_fresh(dir, name, fresh);

	if (fd < 0)
		return hb_fail(err, fd, "cannot make '%s'", quoted(name));
	return finish(dir, fd, fresh, name, sys_write_all(fd, bytes, n), err);
}

static int open_regular(int dir, const char *name)
{
	auto_fd int fd = sys_openat(
		dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;
	int r;

	if (fd < 0)
		return fd;
	r = sys_fstat(fd, &st);
	if (r >= 0 && !S_ISREG(st.st_mode))
		r = -EINVAL;
	return r < 0 ? r : take_fd(&fd);
}

int whole_copy(int from_dir, const char *from, int dir, const char *to,
	       struct hb_error *err)
{
	auto_free char *chunk = malloc(CHUNK);
	auto_fd int source = open_regular(from_dir, from);
	char fresh[NAME_MAX + 8];
	auto_fd int fd = -1;
	ssize_t n = 0;

	if (!chunk || source < 0)
		return hb_fail(err, chunk ? source : -ENOMEM,
			       "cannot read '%s'", quoted(from));
	fd = open_fresh(dir, to, fresh);
	if (fd < 0)
		return hb_fail(err, fd, "cannot make '%s'", quoted(to));
	while ((n = sys_read(source, chunk, CHUNK)) > 0) {
		n = sys_write_all(fd, chunk, (size_t)n);
		if (n < 0)
			break;
	}
	return finish(dir, fd, fresh, to, (int)n, err);
}

bool whole_is(int dir, const char *name, const void *bytes, size_t n)
{
	auto_fd int fd = open_regular(dir, name);
	auto_free char *text = fd >= 0 ? malloc(n + 1) : NULL;

	return text && sys_read_full(fd, text, n + 1) == (ssize_t)n &&
	       memcmp(text, bytes, n) == 0;
}

void whole_take_time(int from_dir, int dir, const char *name)
{
	struct stat st;

	if (sys_fstatat(from_dir, name, &st, AT_SYMLINK_NOFOLLOW) >= 0)
		(void)sys_set_mtime_at(dir, name, st.st_mtim);
}

int whole_digest(int dir, const char *name, char ret[WHOLE_HEX_SIZE],
		 struct hb_error *err)
{
	auto_free char *chunk = malloc(CHUNK);
	auto_fd int fd = open_regular(dir, name);
	uint8_t digest[SHA256_SIZE];
	struct sha256 h;
	ssize_t n = fd < 0 ? fd : -ENOMEM;

	sha256_init(&h);
	while (fd >= 0 && chunk && (n = sys_read(fd, chunk, CHUNK)) > 0)
		sha256_add(&h, chunk, (size_t)n);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read '%s'", quoted(name));
	sha256_end(&h, digest);
	sha256_hex(digest, ret);
	return 0;
}
