/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_CAPS_H
#define HB_SYS_CAPS_H

#include <stdint.h>

/* Capability sets as bit masks; conventions of sys/file.h. */

struct caps {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
};

int sys_caps_get(struct caps *ret_caps);
int sys_caps_set(const struct caps *caps);

/*
 * Takes every capability that is not in `keep` out of the bounding set.
 * Capabilities that the kernel does not know are skipped.  So is the whole set
 * if we lack the right to shrink it (-EPERM).
 */
int sys_caps_bound(uint64_t keep);

/* 1: in the bounding set, 0: not, -EINVAL: no such capability. */
int sys_caps_is_bound(unsigned cap);

/* The ambient set becomes `caps`, which must be permitted and inheritable. */
int sys_caps_ambient(uint64_t caps);

#endif
