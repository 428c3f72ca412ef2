/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "box/box.h"
#include "plan/plan.h"
#include "tap.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The second lock by itself: a root whose mount can be written, and which no
 * operation of the plan gives away.  `holdback run` has no such view; a mount
 * flag that was forgotten would make one.
 */

#define COMMAND_SIZE 200

static struct plan_op *add(struct plan *plan, enum plan_op_kind kind,
			   const char *source, const char *dest, unsigned flags)
{
	struct plan_op *op;

	CHECK(plan_add(plan, kind, &op, NULL) >= 0);
	op->source = source;
	op->dest = dest;
	op->flags = flags;
	return op;
}

/* The exit status of a shell's line in that view. */
static int run_in_view(unsigned settings, const char *line)
{
	static const char *const system[] = { "/usr", "/bin", "/lib",
					      "/lib64" };
	static char path[] = "PATH=/usr/bin:/bin";
	char *envp[] = { path, NULL };
	char sh[] = "sh", option[] = "-c", command[COMMAND_SIZE];
	char *argv[] = { sh, option, command, NULL };
	struct box_result result = { 0 };
	struct hb_error err = { 0 };
	struct plan plan;
	int r;

	(void)snprintf(command, sizeof(command), "exec 2>/dev/null; %s", line);
	plan_init(&plan);
	for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++)
		(void)add(&plan, OP_BIND, system[i], system[i],
			  PLAN_RO | PLAN_TRY);
	(void)add(&plan, OP_DEV, NULL, "/dev", 0);
	(void)add(&plan, OP_PROC, NULL, "/proc", 0);
	(void)add(&plan, OP_TMPFS, NULL, "/tmp", 0);
	(void)add(&plan, OP_DIR, NULL, "/open", 0);
	plan.ns = PLAN_NS_USER | PLAN_NS_PID | PLAN_NS_IPC | PLAN_NS_NET;
	plan.settings = settings | PLAN_KEEP_ROOT_RW | PLAN_DIE_WITH_PARENT;
	plan.chdir = "/";
	plan.argv = argv;
	r = box_run(&plan, envp, NULL, &result, &err);
	if (r < 0)
		printf("# %s: %s\n", err.text, hb_strerror(err.code));
	CHECK_INT(r, 0);
	plan_done(&plan);
	return result.status;
}

static int landlock_version(void)
{
	/* create_ruleset, asked for its version */
	return (int)syscall(444, NULL, 0, 1);
}

/* Everything that changes a directory, and a file that is there. */
static const char *const changes[] = {
	"mkdir /open/x",
	"echo x >/open/x",
	"ln -s a /open/x",
	"mkfifo /open/x",
	"mkdir /x",
	"rmdir /open",
	"mv /open /elsewhere",
	": >/tmp/a && mv /tmp/a /open/a",
};

static void mounts_alone_let_it_pass(void)
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		printf("# %s\n", changes[i]);
		CHECK_INT(run_in_view(0, changes[i]), 0);
	}
}

static void landlock_alone_refuses_it(void)
{
	if (landlock_version() < 2) {
		printf("# this kernel has no landlock\n");
		return;
	}
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		printf("# %s\n", changes[i]);
		CHECK(run_in_view(PLAN_LANDLOCK, changes[i]) != 0);
	}
}

static void what_the_plan_gives_can_be_written(void)
{
	static const char *const allowed[] = {
		"echo x >/tmp/x && mkdir /tmp/d && mv /tmp/x /tmp/d/y",
		"echo x >/dev/null && echo 1 >/proc/self/oom_score_adj",
		"ls / /usr >/dev/null && cat /proc/self/status >/dev/null",
		"cd /tmp && : >a && ln a b && mkdir c && ln b c/d && rm -r *",
	};

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		printf("# %s\n", allowed[i]);
		CHECK_INT(run_in_view(PLAN_LANDLOCK, allowed[i]), 0);
	}
}

TESTS(T(mounts_alone_let_it_pass), T(landlock_alone_refuses_it),
      T(what_the_plan_gives_can_be_written))
