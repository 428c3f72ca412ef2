/* SPDX-License-Identifier: Apache-2.0 */
#include "box/limits.h"

#include "box/state.h"
#include "sys/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* The kernel's own period for processors, in microseconds. */
#define CPU_PERIOD 100000

#define ROWS_MAX 4

int limits_prepare(struct box *box, struct hb_error *err)
{
	const struct plan_limits *limits = &box->plan->limits;
	/* init is in the group as well. */
	uint64_t pids = limits->pids + 1;
	struct cgroup_limit rows[ROWS_MAX];
	char memory[32], cpus[64], processes[32];
	bool is_needed;
	size_t n = 0;
	int r;

	(void)snprintf(memory, sizeof(memory), "%" PRIu64, limits->memory);
	(void)snprintf(cpus, sizeof(cpus), "%" PRIu64 " %d",
		       limits->cpus * (CPU_PERIOD / 1000), CPU_PERIOD);
	(void)snprintf(processes, sizeof(processes), "%" PRIu64, pids);
	if (limits->memory) {
		rows[n++] = (struct cgroup_limit){ "memory", "memory.max",
						   memory, false };
		/* Or it would only be slow. */
		rows[n++] = (struct cgroup_limit){ "memory", "memory.swap.max",
						   "0", true };
	}
	if (limits->cpus)
		rows[n++] =
			(struct cgroup_limit){ "cpu", "cpu.max", cpus, false };
	is_needed = n > 0;
	/* That of the user namespace does not bind root, and needs one. */
	is_needed |= limits->pids && is_set(box, PLAN_BARE);
	if (limits->pids && (box->uid == 0 || is_set(box, PLAN_BARE))) {
		rows[n++] = (struct cgroup_limit){ "pids", "pids.max",
						   processes, false };
		box->has_group_pids = true;
	}
	if (n == 0)
		return 0;
	r = cgroup_make(rows, n, &box->cgroup, is_needed ? err : NULL);
	if (r >= 0 || is_needed)
		return r;
	/* One who is root only here is bound, which is tried. */
	box->has_group_pids = false;
	return 0;
}

int limits_of_namespace(const struct box *box, struct hb_error *err)
{
	uint64_t n = box->plan->limits.pids;
	pid_t pid;
	int r;

	if (n == 0 || box->has_group_pids)
		return 0;
	n += box->has_init;
	r = sys_limit_processes(1, n);
	if (r < 0)
		return hb_fail(err, r, "cannot limit the processes");
	pid = sys_clone(0, NULL);
	if (pid == 0)
		sys_exit(0);
	if (pid > 0) {
		(void)sys_waitpid(pid, NULL, 0);
		hb_fix(err,
		       "systemd-run --scope -p Delegate=yes holdback ..., or run as an ordinary user");
		return hb_fail(
			err, -HB_E_UNSUPPORTED,
			"the processes of root can be limited only by a control group (version 2) that is ours to divide");
	}
	r = pid == -EAGAIN ? sys_limit_processes(n, n) : pid;
	if (r < 0)
		return hb_fail(err, r, "cannot limit the processes");
	return 0;
}
