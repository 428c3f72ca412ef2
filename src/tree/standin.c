/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/standin.h"

#include "base/auto.h"
#include "base/mode.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define TOUCHED	  '!'
#define UNTOUCHED '='

int standin_mark(int fd, const struct entry *entry, const char *real,
		 bool is_touched)
{
	bool is_closed = !(entry->mode & USER_WRITE);
	char value[PATH_MAX + 1];
	int r = 0, n;

	n = snprintf(value, sizeof(value), "%c%s",
		     is_touched ? TOUCHED : UNTOUCHED, real);
	if (n < 0 || (size_t)n >= sizeof(value))
		return -ENAMETOOLONG;
	if (is_closed)
		r = sys_chmod_fd(fd, entry->mode | USER_WRITE);
	if (r >= 0)
		r = sys_set_xattr(fd, STANDIN_MARK, value, (size_t)n);
	if (r >= 0 && is_closed)
		r = sys_chmod_fd(fd, entry->mode);
	return r;
}

int standin_read(int dir, const char *name, const struct entry *entry,
		 struct standin *ret)
{
	auto_fd int fd = sys_openat(dir, name, O_PATH | O_NOFOLLOW, 0);
	char value[PATH_MAX + 1];
	ssize_t n;

	n = fd < 0 ? fd
		   : access_get_xattr(fd, entry, STANDIN_MARK, value,
				      sizeof(value) - 1);
	if (n < 0)
		return (int)n;
	value[n] = '\0';
	if (n < 2 || n > PATH_MAX || strlen(value) != (size_t)n ||
	    (value[0] != TOUCHED && value[0] != UNTOUCHED) || value[1] == '/')
		return -EBADMSG;
	ret->is_touched = value[0] == TOUCHED;
	memcpy(ret->real, value + 1, (size_t)n);
	return 0;
}
