/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The least that a heard call can cost: usage: handover COUNT 0|1.
 *
 * Renames a file in the working directory so often, and prints the processor
 * time in ms.  With 1 each call is handed to a listener, which looks at nothing
 * and lets it go on.
 */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, unsigned long long)
#endif
#define SYNC_WAKE_UP	   1UL
#define WAIT_KILLABLE_RECV (1UL << 5)

static double processor_ms(void)
{
	static const int both[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage used;
	double ms = 0;

	for (int i = 0; i < 2; i++) {
		getrusage(both[i], &used);
		ms += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) *
			      1e3 +
		      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) /
			      1e3;
	}
	return ms;
}

static int load(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER |
				    WAIT_KILLABLE_RECV,
			    &program);
}

static void work(int count)
{
	const char *names[] = { "a", "b" };

	for (int i = 0; i < count; i++)
		if (syscall(SYS_renameat2, AT_FDCWD, names[i % 2], AT_FDCWD,
			    names[1 - i % 2], 0) < 0)
			_exit(1);
	_exit(0);
}

/* Until the child, which alone can call, is gone. */
static void answer(int listener)
{
	for (;;) {
		struct pollfd ready = { listener, POLLIN, 0 };
		struct seccomp_notif call;
		struct seccomp_notif_resp go_on;

		memset(&call, 0, sizeof(call));
		if (poll(&ready, 1, -1) < 0 || !(ready.revents & POLLIN) ||
		    ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
			return;
		go_on = (struct seccomp_notif_resp){
			.id = call.id,
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
		};
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
	}
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 0;
	int is_heard = argc > 2 && atoi(argv[2]);
	int status = 0, given[2], listener = -1;
	double before;
	pid_t pid;

	close(open("a", O_CREAT | O_WRONLY, 0600));
	if (count <= 0 || pipe(given) < 0)
		return 2;
	before = processor_ms();
	pid = fork();
	if (pid == 0) {
		listener = is_heard ? load() : -1;
		if (write(given[1], &listener, sizeof(listener)) < 0)
			_exit(2);
		work(count);
	}
	if (pid < 0 ||
	    read(given[0], &listener, sizeof(listener)) != sizeof(listener))
		return 2;
	if (is_heard) {
		int process = (int)syscall(SYS_pidfd_open, pid, 0);

		listener = (int)syscall(SYS_pidfd_getfd, process, listener, 0);
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP);
		answer(listener);
	}
	waitpid(pid, &status, 0);
	printf("%.1f\n", processor_ms() - before);
	return status != 0;
}
