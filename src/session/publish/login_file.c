/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/login_file.h"

#include "base/auto.h"
#include "base/json_keys.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *login_file_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

int login_file_parent(const char *path)
{
	char dir[PATH_MAX];

	(void)snprintf(dir, sizeof(dir), "%.*s",
		       (int)(login_file_name(path) - path - 1), path);
	return sys_openat2(AT_FDCWD, dir[0] ? dir : "/", O_RDONLY | O_DIRECTORY,
			   0, K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS);
}

bool login_file_is_own(int dir)
{
	struct stat st;

	return sys_fstat(dir, &st) >= 0 && st.st_uid == sys_effective_uid();
}

static bool is_json(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

bool login_file_is_cut(const char *path, const char *old, size_t n_old,
		       const char *text, size_t n)
{
	size_t blank = strspn(text, " \t\r\n");

	if (!is_json(path) || json_check_object(text, n) >= 0)
		return false;
	return blank >= n || text[blank] == '{' ||
	       (old && json_check_object(old, n_old) >= 0);
}

int login_file_look(int dir, const char *name, struct stat *ret)
{
	int r = sys_fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	return S_ISREG(ret->st_mode) ? 1 : -EINVAL;
}

int login_file_read(int dir, const char *name, char **ret, size_t *ret_n)
{
	auto_free char *text = NULL;
	auto_fd int fd = -1;
	struct stat st;
	ssize_t n;
	int r;

	fd = sys_openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	r = fd < 0 ? fd : sys_fstat(fd, &st);
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > LOGIN_FILE_MAX)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	n = sys_pread_full(fd, text, (size_t)st.st_size, 0);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	*ret_n = (size_t)n;
	*ret = take_ptr(&text);
	return 0;
}

int login_file_write(int dir, const char *name, const char *text, size_t n,
		     mode_t mode, bool sync)
{
	auto_fd int fd = -1;
	int r;

	(void)sys_unlinkat(dir, name, 0);
	fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
			0600);
	r = fd < 0 ? fd : sys_write_all(fd, text, n);
	if (r >= 0)
		r = sys_fchmod(fd, mode);
	if (r >= 0 && sync)
		r = sys_fsync(fd);
	return r;
}
