/* SPDX-License-Identifier: Apache-2.0 */
#include "host/helper_error.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/file.h"

#include <fcntl.h>

#define ERROR_FILE "error"

int helper_error(int dir, struct hb_error *err)
{
	auto_fd int fd =
		dir < 0 ? -1
			: sys_openat(dir, ERROR_FILE,
				     O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct hb_error left = { 0 };

	if (fd < 0 ||
	    sys_read_full(fd, &left, sizeof(left)) != (ssize_t)sizeof(left))
		left = (struct hb_error){ 0 };
	(void)(dir >= 0 && sys_unlinkat(dir, ERROR_FILE, 0));
	left.text[sizeof(left.text) - 1] = '\0';
	left.fix[sizeof(left.fix) - 1] = '\0';
	if (left.code <= 0 || left.code >= HB_E_END)
		return hb_fail(err, -HB_E_CHILD, "the program for PostgreSQL");
	if (left.fix[0])
		hb_fix(err, "%s", left.fix);
	return hb_fail(err, -left.code, "%s", left.text);
}
