/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"
#include "probe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/*
 * probe cut CALL N -- COMMAND ...
 *
 * Runs the command, and kills it at the N-th call of that name which one of its
 * children makes, having said so: when the child goes on, the command is dead.
 * So a supervisor can be taken away at each step that its child does.
 */
static int cut(struct filter *f, const struct k_seccomp_notif *call)
{
	siginfo_t info;

	if ((pid_t)call->pid == f->child || f->left == 0 || --f->left > 0)
		return 1;
	(void)fputs("killed\n", stderr);
	(void)kill(f->child, SIGKILL);
	(void)waitid(P_PID, (id_t)f->child, &info, WEXITED | WNOWAIT);
	return 1;
}

int cut_main(int argc, char **argv)
{
	struct filter f = { .answer = cut };

	f.left = (unsigned)strtoul(argv[1], NULL, 0);
	if (argc < 4 || strcmp(argv[2], "--") != 0 ||
	    filter_watch(&f, argv[0]) < 0)
		return 2;
	return filter_execute(&f, argv + 3);
}
