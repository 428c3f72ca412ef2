/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_CGROUP_H
#define HB_BOX_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hb_error;

/*
 * Limits on all processes of a box together: a control group (version 2) below
 * our own, if we may divide that.
 */

/* One file of the group. */
struct cgroup_limit {
	const char *controller;
	const char *file;
	const char *value;
	bool is_optional; /* a kernel may be built without it */
};

struct cgroup {
	int above; /* the group that ours lies in; -1: there is none */
	int dir;   /* the one with the limits, locked as long as it is used */
	char name[32];
};

/* clang-format off */
#define CGROUP_NONE { .above = -1, .dir = -1 }
/* clang-format on */

/*
 * Makes an empty group with these limits.  -HB_E_UNSUPPORTED with cause and fix
 * where the host gives none.  Nothing is left then, but we may have moved to a
 * group of our own below the old one, with no other process in it.
 */
int cgroup_make(const struct cgroup_limit *limits, size_t n,
		struct cgroup *ret_cgroup, struct hb_error *err);

/* Puts a process into it, which has no other threads yet. */
int cgroup_enter(const struct cgroup *cgroup, pid_t pid, struct hb_error *err);

/* How often a process was refused for the limit `pids.max`. */
uint64_t cgroup_refused_pids(const struct cgroup *cgroup);

/* After its last process has ended.  Also takes CGROUP_NONE. */
void cgroup_remove(struct cgroup *cgroup);

#endif
