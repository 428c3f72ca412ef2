/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/caps.h"

#include "sys/kernel.h"
#include "sys/result.h"

#include <sys/prctl.h>
#include <unistd.h>

#define CAP_COUNT 64

static uint64_t join(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

int sys_caps_get(struct caps *ret_caps)
{
	struct k_cap_header head = { K_CAP_VERSION_3, 0 };
	struct k_cap_data data[2] = { { 0 } };

	if (syscall(SYS_capget, &head, data) < 0)
		return -errno;
	*ret_caps = (struct caps){
		.effective = join(data[0].effective, data[1].effective),
		.permitted = join(data[0].permitted, data[1].permitted),
		.inheritable = join(data[0].inheritable, data[1].inheritable),
	};
	return 0;
}

int sys_caps_set(const struct caps *caps)
{
	struct k_cap_header head = { K_CAP_VERSION_3, 0 };
	struct k_cap_data data[2] = {
		{ (uint32_t)caps->effective, (uint32_t)caps->permitted,
		  (uint32_t)caps->inheritable },
		{ (uint32_t)(caps->effective >> 32),
		  (uint32_t)(caps->permitted >> 32),
		  (uint32_t)(caps->inheritable >> 32) },
	};

	return (int)RESULT(syscall(SYS_capset, &head, data));
}

int sys_caps_bound(uint64_t keep)
{
	for (unsigned cap = 0; cap < CAP_COUNT; cap++) {
		if (keep >> cap & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		/* EINVAL: past the last one.  EPERM: not ours to shrink. */
		if (errno == EINVAL || errno == EPERM)
			return 0;
		return -errno;
	}
	return 0;
}

int sys_caps_is_bound(unsigned cap)
{
	return RESULT(prctl(PR_CAPBSET_READ, cap, 0, 0, 0));
}

int sys_caps_ambient(uint64_t caps)
{
	if (prctl(K_PR_CAP_AMBIENT, K_PR_CAP_AMBIENT_CLEAR, 0, 0, 0) < 0)
		return -errno;
	for (unsigned cap = 0; cap < CAP_COUNT; cap++) {
		if (!(caps >> cap & 1))
			continue;
		if (prctl(K_PR_CAP_AMBIENT, K_PR_CAP_AMBIENT_RAISE, cap, 0, 0) <
		    0)
			return -errno;
	}
	return 0;
}
