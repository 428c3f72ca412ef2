/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/durable.h"

#include "sys/file.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int scratch(void)
{
	return open(getenv("TMPDIR"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void a_lock_has_one_holder_at_a_time(void)
{
	int dir = scratch(), first, second;

	CHECK_INT(sys_lock_file(dir, "lock", 0, 0), -ENOENT);
	first = sys_lock_file(dir, "lock", O_CREAT, 0);
	CHECK(first >= 0);
	CHECK_INT(sys_lock_file(dir, "lock", O_CREAT, 0), -EWOULDBLOCK);
	CHECK_INT(sys_lock_file(dir, "lock", 0, 30), -EWOULDBLOCK);
	sys_close(first);
	second = sys_lock_file(dir, "lock", 0, 0);
	CHECK(second >= 0);
	sys_close(second);
	(void)unlinkat(dir, "lock", 0);
	close(dir);
}

static void a_link_is_no_lock(void)
{
	int dir = scratch();

	CHECK_INT(symlinkat("other", dir, "lock"), 0);
	CHECK_INT(sys_lock_file(dir, "lock", O_CREAT, 0), -ELOOP);
	CHECK(faccessat(dir, "other", F_OK, 0) < 0);
	(void)unlinkat(dir, "lock", 0);
	close(dir);
}

TESTS(T(a_lock_has_one_holder_at_a_time), T(a_link_is_no_lock))
