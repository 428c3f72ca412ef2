/* SPDX-License-Identifier: Apache-2.0 */
#include "box/host.h"

#include "base/buf.h"
#include "base/error.h"
#include "sys/caps.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* 9000 arguments of the longest kind the kernel passes would not fit either. */
#define READ_LIMIT (16U << 20)

int host_read_fd(void *ctx, int fd, char **ret_data, size_t *ret_len,
		 struct hb_error *err)
{
	auto_buf struct buf data = BUF_INIT(READ_LIMIT);
	char block[4096];
	ssize_t n;
	int r;

	(void)ctx;
	while ((n = sys_read(fd, block, sizeof(block))) > 0)
		if (buf_add(&data, block, (size_t)n) < 0)
			return hb_fail(err, data.error, "Can't read fd %d", fd);
	if (n < 0)
		return hb_fail(err, (int)n, "Can't read fd %d", fd);
	sys_close(fd);
	/* An empty buffer has no memory of its own; the caller expects some. */
	(void)buf_add_char(&data, '\0');
	r = buf_take(&data, ret_data, ret_len);
	if (r < 0)
		return hb_fail(err, r, "Can't read fd %d", fd);
	*ret_len -= 1;
	return 0;
}

bool host_is_root(void)
{
	return sys_getuid() == 0;
}

unsigned host_gid(void)
{
	return sys_getgid();
}

/* As bubblewrap decides it: the kernel knows them and the limit is not 0. */
bool host_can_unshare_user(void *ctx)
{
	char text[32];

	(void)ctx;
	if (sys_faccessat(AT_FDCWD, "/proc/self/ns/user", F_OK) < 0)
		return false;
	if (sys_read_file_at(AT_FDCWD, "/proc/sys/user/max_user_namespaces",
			     text, sizeof(text)) > 0 &&
	    strtol(text, NULL, 10) == 0)
		return false;
	return true;
}

bool host_can_unshare_cgroup(void *ctx)
{
	(void)ctx;
	return sys_faccessat(AT_FDCWD, "/proc/self/ns/cgroup", F_OK) >= 0;
}

int host_check_caller(struct hb_error *err)
{
	struct caps caps;
	int r;

	if (sys_getuid() == 0)
		return 0;
	r = sys_caps_get(&caps);
	if (r < 0)
		return hb_fail(err, r, "cannot read our capabilities");
	if (caps.permitted || sys_getuid() != sys_geteuid())
		return hb_fail(
			err, -HB_E_USAGE,
			"Unexpected capabilities but not setuid, old file caps config?");
	return 0;
}
