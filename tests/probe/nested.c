/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include "sys/kernel.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls for a user namespace, as a sandbox inside of another makes them. */

/* Turn by turn, by both calls; 0: it is there. */
static int make_namespace(unsigned turn)
{
	long pid;

	if (turn % 2 == 0)
		return syscall(SYS_unshare, CLONE_NEWUSER) < 0 ? errno : 0;
	pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, NULL,
		      NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid((pid_t)pid, NULL, 0);
	return pid < 0 ? errno : 0;
}

/* The one answer to all `n` calls; -1 if there are several. */
static int try_often(unsigned n)
{
	int code = make_namespace(0);

	for (unsigned i = 1; i < n; i++)
		if (make_namespace(i) != code)
			return -1;
	return code;
}

int act_nested(int argc, char **argv)
{
	unsigned n = (unsigned)strtoul(argv[0], NULL, 0);
	unsigned left = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 1;
	int status = 0, code = -1;

	for (unsigned i = 0; i < left; i++)
		if (fork() == 0)
			_exit(try_often(n));
	while (wait(&status) > 0) {
		int got = WIFEXITED(status) ? WEXITSTATUS(status) : 255;

		if (code >= 0 && got != code)
			got = 255;
		code = got;
	}
	(void)puts(errno_name(code));
	return code == 0 ? 0 : 1;
}

/* A filter of its own, which asks about unshare(). */
static int listen_here(void)
{
	struct k_sock_filter code[] = {
		{ 0x20, 0, 0, offsetof(struct k_seccomp_data, nr) },
		{ 0x15, 0, 1, SYS_unshare },
		{ 0x06, 0, 0, K_SECCOMP_RET_USER_NOTIF },
		{ 0x06, 0, 0, 0x7fff0000U },
	};
	struct k_sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER,
			    K_SECCOMP_FLAG_NEW_LISTENER, &prog);
}

/*
 * A newer filter that asks has the last word over an older one that asks, and
 * may say that the call is to go on.
 */
int act_overrule(int argc, char **argv)
{
	struct k_seccomp_notif call = { 0 };
	struct k_seccomp_notif_resp resp = { 0 };
	int listener = listen_here(), status = 0;
	pid_t pid;

	(void)argc;
	(void)argv;
	if (listener < 0)
		return answer(listener);
	pid = fork();
	if (pid == 0)
		_exit(make_namespace(0));
	if (ioctl(listener, K_SECCOMP_NOTIF_RECV, &call) < 0)
		return answer(-1);
	resp.id = call.id;
	resp.flags = K_SECCOMP_USER_NOTIF_CONTINUE;
	if (ioctl(listener, K_SECCOMP_NOTIF_SEND, &resp) < 0 ||
	    waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return answer(-1);
	errno = WEXITSTATUS(status);
	return answer(errno ? -1 : 0);
}
