/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/seccomp.h"

#include "sys/kernel.h"
#include "sys/proc.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A child loads a filter that notifies of getppid(), hands the listener over
 * and makes the call; the parent sees it and decides.
 */

/* if (nr == getppid) notify; else allow */
static const struct k_sock_filter filter[] = {
	{ 0x20, 0, 0, 0 },
	{ 0x15, 0, 1, SYS_getppid },
	{ 0x06, 0, 0, K_SECCOMP_RET_USER_NOTIF },
	{ 0x06, 0, 0, 0x7fff0000 },
};

static void send_fd(int socket, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control.room) };

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (sendmsg(socket, &msg, 0) != 1)
		_exit(9);
}

static int take_fd_from(int socket)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control.room) };
	int fd;

	CHECK_INT(recvmsg(socket, &msg, 0), 1);
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/* Ends with 0 if getppid() gave `want`, an errno, or 0 for the real answer. */
_Noreturn static void ask(int socket, int want)
{
	int listener;
	long r;

	if (sys_set_no_new_privs() < 0)
		_exit(7);
	listener = sys_seccomp_load_notifying(filter, 4);
	if (listener < 0)
		_exit(8);
	send_fd(socket, listener);
	(void)close(listener);
	r = syscall(SYS_getppid);
	if (want == 0)
		_exit(r > 0 ? 0 : 1);
	_exit(r == -1 && errno == want ? 0 : 1);
}

static void decide(int error)
{
	struct k_seccomp_notif notif;
	int pair[2], status, listener;
	pid_t pid;

	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		ask(pair[1], error);
	listener = take_fd_from(pair[0]);
	CHECK_INT(sys_seccomp_notif_recv(listener, &notif), 0);
	CHECK_INT(notif.data.nr, SYS_getppid);
	CHECK_INT(notif.pid, pid);
	CHECK(sys_seccomp_notif_is_valid(listener, notif.id));
	CHECK(!sys_seccomp_notif_is_valid(listener, notif.id + 1));
	CHECK_INT(sys_seccomp_notif_answer(listener, notif.id, error), 0);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	CHECK(!sys_seccomp_notif_is_valid(listener, notif.id));
	(void)close(listener);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

static void a_call_is_let_go(void)
{
	decide(0);
}

static void a_call_is_refused(void)
{
	decide(EPERM);
}

static void the_probe_says_what_there_is(void)
{
	CHECK(sys_seccomp_notif_probe() >= 0);
}

TESTS(T(a_call_is_let_go), T(a_call_is_refused),
      T(the_probe_says_what_there_is))
