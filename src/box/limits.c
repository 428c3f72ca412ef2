/* SPDX-License-Identifier: Apache-2.0 */
#include "box/limits.h"

#include "box/state.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The kernel's own period for processors, in microseconds. */
#define CPU_PERIOD 100000

#define ROWS_MAX 4

int limits_prepare(struct box *box, struct hb_error *err)
{
	const struct plan_limits *limits = &box->plan->limits;
	struct cgroup_limit rows[ROWS_MAX];
	char memory[32], cpus[64], processes[32];
	bool is_asked = limits->pids && !limits->is_pids_usual;
	bool is_needed;
	size_t n = 0;
	int r;

	box->pids = limits_pids(limits);
	(void)snprintf(memory, sizeof(memory), "%" PRIu64, limits->memory);
	(void)snprintf(cpus, sizeof(cpus), "%" PRIu64 " %d",
		       limits->cpus * (CPU_PERIOD / 1000), CPU_PERIOD);
	/* init is in the group as well. */
	(void)snprintf(processes, sizeof(processes), "%" PRIu64, box->pids + 1);
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
	is_needed |= is_asked && is_set(box, PLAN_BARE);
	if ((is_asked || (n > 0 && limits->pids)) &&
	    (box->uid == 0 || is_set(box, PLAN_BARE))) {
		rows[n++] = (struct cgroup_limit){ "pids", "pids.max",
						   processes, false };
		box->has_group_pids = true;
	}
	if (n == 0)
		return 0;
	r = cgroup_make(rows, n, &box->cgroup, is_needed ? err : NULL);
	if (r >= 0 || is_needed)
		return r;
	/* A user who is root only here is bound, which is tried. */
	box->has_group_pids = false;
	return 0;
}

uint64_t limits_pids(const struct plan_limits *limits)
{
	uint64_t all;
	char text[32];

	if (!limits->is_pids_usual ||
	    sys_read_file_at(AT_FDCWD, "/proc/sys/kernel/pid_max", text,
			     sizeof(text)) <= 0)
		return limits->pids;
	all = strtoul(text, NULL, 10);
	return all / 4 < limits->pids ? all / 4 : limits->pids;
}

/*
 * Not tried out, because root, whom it does not bind, is not refused for a
 * number that was not asked for.  Without namespaces it would count all that
 * the user runs.
 */
static void limit_usually(const struct box *box)
{
	uint64_t n = box->pids + box->has_init;

	if (!is_set(box, PLAN_BARE))
		(void)sys_limit_processes(n, n);
}

int limits_of_namespace(const struct box *box, struct hb_error *err)
{
	uint64_t n = box->pids;
	pid_t pid;
	int r;

	if (n == 0 || box->has_group_pids)
		return 0;
	if (box->plan->limits.is_pids_usual) {
		limit_usually(box);
		return 0;
	}
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
