/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/landlock.h"

#include "sys/kernel.h"
#include "sys/result.h"

#include <stddef.h>
#include <unistd.h>

int sys_landlock_abi(void)
{
	return (int)RESULT(syscall(SYS_landlock_create_ruleset, NULL, 0,
				   K_LANDLOCK_VERSION));
}

int sys_landlock_create(uint64_t fs, uint64_t scoped)
{
	struct k_landlock_ruleset attr = { .fs = fs, .scoped = scoped };
	size_t size = scoped ? sizeof(attr) : sizeof(attr.fs);

	return (int)RESULT(
		syscall(SYS_landlock_create_ruleset, &attr, size, 0));
}

int sys_landlock_allow(int ruleset, int fd, uint64_t access)
{
	struct k_landlock_path rule = { .access = access, .parent_fd = fd };

	return (int)RESULT(syscall(SYS_landlock_add_rule, ruleset,
				   K_LANDLOCK_RULE_PATH, &rule, 0));
}

int sys_landlock_restrict(int ruleset)
{
	return (int)RESULT(syscall(SYS_landlock_restrict_self, ruleset, 0));
}
