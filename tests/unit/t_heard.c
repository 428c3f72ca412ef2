/* SPDX-License-Identifier: Apache-2.0 */
/* soak-modes: root userns */
#include "box/notify/heard.h"

#include "sys/proc.h"
#include "sys/seccomp.h"
#include "tap.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The supervisor's side of a notifier that died with a call in its hands, where
 * there can be no other: refused calls stay refused, and the others go on.
 */

/* if (nr == unshare || nr == getppid) notify; else allow */
static const struct k_sock_filter filter[] = {
	{ 0x20, 0, 0, 0 },	     { 0x15, 1, 0, SYS_unshare },
	{ 0x15, 0, 1, SYS_getppid }, { 0x06, 0, 0, K_SECCOMP_RET_USER_NOTIF },
	{ 0x06, 0, 0, 0x7fff0000 },
};

static int error_of(long nr)
{
	return syscall(nr, CLONE_NEWUSER) < 0 ? errno : 0;
}

/* The caller is a child of a process that has the filter and the listener. */
static int error_without_notifier(long nr)
{
	static struct heard h;
	struct pollfd fds[HEARD_FDS] = { { .revents = POLLIN } };
	int status = -1;
	int listener;
	pid_t pid;

	CHECK_INT(sys_set_no_new_privs(), 0);
	listener = sys_seccomp_load_notifying(filter, 5);
	CHECK(listener >= 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		_exit(error_of(nr));
	heard_init(&h, NULL, NULL);
	heard_take(&h, listener);
	CHECK_INT(sys_seccomp_notif_recv(listener, &h.own.now.data), 0);
	h.own.now.state = NOTIFY_WAITS;
	h.pid = fork();
	CHECK(h.pid >= 0);
	if (h.pid == 0)
		_exit(1);
	heard_serve(&h, fds);
	CHECK(h.is_broken);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect(long nr, int error)
{
	int status = -1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0)
		_exit(error_without_notifier(nr));
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), error);
}

static void a_user_namespace_stays_refused(void)
{
	expect(SYS_unshare, EPERM);
}

static void another_call_goes_on(void)
{
	expect(SYS_getppid, 0);
}

TESTS(T(a_user_namespace_stays_refused), T(another_call_goes_on))
