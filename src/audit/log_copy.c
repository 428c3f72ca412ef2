/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/log_copy.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The mode of others, and of a group. */
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static int refuse(const char *path, const char *why, struct hb_error *err)
{
	hb_fix(err, "a file in a directory that only you can write");
	return hb_fail(err, -HB_E_CONFIG,
		       "the log file cannot be used: %s '%s'", why,
		       quoted(path));
}

/* In a user namespace root may have another number: that of "/". */
static bool owns_system(uid_t uid)
{
	struct stat st;

	return uid == 0 ||
	       (sys_fstatat(AT_FDCWD, "/", &st, 0) >= 0 && st.st_uid == uid);
}

static int check(int fd, const char *path, bool is_above, struct hb_error *err)
{
	struct stat st;
	int r = sys_fstat(fd, &st);

	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", quoted(path));
	if (st.st_uid != sys_geteuid() && !owns_system(st.st_uid))
		return refuse(path, "another user owns", err);
	/* Others cannot move a directory of ours out of a sticky one. */
	if (st.st_mode & OTHERS_WRITE && !(is_above && st.st_mode & S_ISVTX))
		return refuse(path, "others can write to", err);
	return 0;
}

/* The directories above: by their real path, from the bottom up. */
static int check_above(const char *dir, struct hb_error *err)
{
	char path[PATH_MAX];
	int r = 0;

	(void)snprintf(path, sizeof(path), "%s", dir);
	while (r >= 0 && strcmp(path, "/") != 0) {
		struct path_part above = path_dirname(path);
		auto_fd int fd = -1;

		path[above.n] = '\0';
		fd = sys_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0);
		r = fd < 0 ? hb_fail(err, fd, "cannot open '%s'", quoted(path))
			   : check(fd, path, true, err);
	}
	return r;
}

static int open_dir(const char *path, struct hb_error *err)
{
	struct path_part part = path_dirname(path);
	char dir[PATH_MAX], real[PATH_MAX];
	auto_fd int fd = -1;
	int r;

	(void)snprintf(dir, sizeof(dir), "%.*s", (int)part.n, part.s);
	fd = sys_openat(AT_FDCWD, dir, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'", quoted(dir));
	r = (int)sys_fd_path(fd, real, sizeof(real));
	if (r < 0)
		return hb_fail(err, r, "cannot tell where '%s' lies",
			       quoted(dir));
	r = check(fd, real, false, err);
	if (r >= 0)
		r = check_above(real, err);
	return r < 0 ? r : take_fd(&fd);
}

int log_copy_open(const char *path, struct hb_error *err)
{
	struct path_part name = path_basename(path);
	auto_fd int dir = -1;
	auto_fd int fd = -1;
	struct stat st;
	int r;

	if (strlen(path) >= PATH_MAX || name.n == 0 || name.n > NAME_MAX ||
	    path_is_dots(name.s))
		return hb_fail(err, -HB_E_USAGE, "'%s' names no log file",
			       quoted(path));
	dir = open_dir(path, err);
	if (dir < 0)
		return dir;
	fd = sys_openat(dir, name.s,
			O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW |
				O_NONBLOCK | O_NOCTTY,
			0600);
	if (fd < 0)
		return hb_fail(err, fd, "cannot open the log file '%s'",
			       quoted(path));
	r = sys_fstat(fd, &st);
	if (r >= 0 && !S_ISREG(st.st_mode))
		return hb_fail(err, -HB_E_USAGE, "'%s' is no regular file",
			       quoted(path));
	r = r < 0 ? r : check(fd, path, false, err);
	return r < 0 ? r : take_fd(&fd);
}
