/* SPDX-License-Identifier: Apache-2.0 */
#include "store/boot.h"

#include "base/error.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

int boot_id(char ret[RECORD_BOOT_SIZE], struct hb_error *err)
{
	ssize_t n;

	n = sys_read_file_at(AT_FDCWD, BOOT_ID, ret, RECORD_BOOT_SIZE);
	/* A box inside a box may not see it: then it is always the same. */
	if (n == -ENOENT || n == -EACCES) {
		(void)snprintf(ret, RECORD_BOOT_SIZE, "unknown");
		return 0;
	}
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read the boot id");
	ret[strcspn(ret, "\n")] = '\0';
	return 0;
}
