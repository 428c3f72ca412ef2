/* SPDX-License-Identifier: Apache-2.0 */
#include "store/user_dir.h"

#include "base/error.h"
#include "base/quote.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

int user_dir_make(const char *path, struct hb_error *err)
{
	char part[PATH_MAX];
	int r;

	for (const char *p = path; *p; p++) {
		if (p == path || (*p != '/' && p[1] != '\0'))
			continue;
		(void)snprintf(part, sizeof(part), "%.*s",
			       (int)(p - path + (*p != '/')), path);
		r = sys_mkdirat(AT_FDCWD, part, 0700);
		if (r < 0 && r != -EEXIST)
			return hb_fail(err, r, "cannot make '%s'", part);
	}
	return 0;
}

int user_dir_check(int fd, const char *name, mode_t forbidden,
		   const char *other, struct hb_error *err)
{
	struct sys_attr attr;
	int r;

	r = sys_attr_at(fd, "", &attr);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", name);
	if (attr.uid != sys_geteuid()) {
		hb_fix(err, "%s", other);
		return hb_fail(err, -HB_E_STATE,
			       "'%s' belongs to user %u, not to you",
			       quoted(name), (unsigned)attr.uid);
	}
	if (attr.mode & forbidden) {
		hb_fix(err, "chmod go-rwx %s", quoted(name));
		return hb_fail(err, -HB_E_STATE,
			       "others have rights on '%s' (mode %03o)",
			       quoted(name), (unsigned)(attr.mode & 07777));
	}
	return 0;
}
