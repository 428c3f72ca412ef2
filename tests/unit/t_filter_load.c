/* SPDX-License-Identifier: Apache-2.0 */
#include "filter_table.h"

#include "tap.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The programs in the kernel's hands.  t_filter.c has asked them everything;
 * this shows that the kernel takes them as they are, that a refusal arrives as
 * the errno meant, and that ordinary work goes on under them.
 */

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static void load(unsigned int variant)
{
	CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_INT(syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER, 0,
			  &filter_table[variant]),
		  0);
}

/* Runs BODY in a child under VARIANT; a failed check there fails here. */
static void under(unsigned int variant, void (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		load(variant);
		body();
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

static const struct call {
	const char *what;
	long nr;
	long arg[3];
	int error;
} refused[] = {
	{ "mount", SYS_mount, { 0 }, EPERM },
	{ "clone3", SYS_clone3, { 0 }, ENOSYS },
	{ "unshare(NEWUSER)", SYS_unshare, { CLONE_NEWUSER }, EPERM },
	{ "unshare()", SYS_unshare, { 0 }, EPERM },
	{ "clone(NEWUSER)", SYS_clone, { CLONE_NEWUSER | SIGCHLD }, EPERM },
	{ "TIOCSTI", SYS_ioctl, { -1, 0x5412 }, EPERM },
	{ "TIOCSTI, high bits", SYS_ioctl, { -1, 0x100005412 }, EPERM },
	{ "TIOCEXCL", SYS_ioctl, { -1, 0x540c }, EPERM },
	{ "TIOCLINUX", SYS_ioctl, { -1, 0x541c }, EPERM },
	{ "socket(VSOCK)", SYS_socket, { 40, SOCK_STREAM }, EAFNOSUPPORT },
	{ "socket(ALG)", SYS_socket, { 38, SOCK_SEQPACKET }, EAFNOSUPPORT },
	{ "socket(AUDIT)", SYS_socket, { 16, SOCK_RAW, 9 }, EPROTONOSUPPORT },
	{ "io_uring_setup", 425, { 1 }, EPERM },
	{ "pidfd_getfd", 438, { -1 }, EPERM },
	{ "keyctl", SYS_keyctl, { -1 }, EPERM },
	{ "personality", SYS_personality, { 0x40000 }, EPERM },
	{ "open_tree_attr", 467, { -1 }, EPERM },
	{ "setxattrat", 463, { -1 }, ENOSYS },
	{ "one too many", 470, { 0 }, ENOSYS },
	{ "x32", 0x40000000 | SYS_getpid, { 0 }, ENOSYS },
};

static int error_of(const struct call *c)
{
	errno = 0;
	return syscall(c->nr, c->arg[0], c->arg[1], c->arg[2], 0, 0, 0) < 0
		       ? errno
		       : 0;
}

static void try_refused(void)
{
	for (size_t i = 0; i < N_OF(refused); i++) {
		int error = error_of(&refused[i]);

		if (error != refused[i].error)
			printf("# %s\n", refused[i].what);
		CHECK_INT(error, refused[i].error);
	}
}

static void refusals_arrive(void)
{
	under(FILTER_DEFAULT, try_refused);
}

static void *touch(void *flag)
{
	*(bool *)flag = true;
	return NULL;
}

static void run_true(void)
{
	int status = -1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		(void)execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

static void try_ordinary(void)
{
	static const int families[][3] = {
		{ AF_UNIX, SOCK_STREAM, 0 },
		{ AF_INET, SOCK_STREAM, 0 },
		{ AF_NETLINK, SOCK_RAW, 0 },
	};
	bool ran = false;
	pthread_t thread;
	int pair[2];

	run_true();
	/* Thread libraries take clone3 first and must find their way back. */
	CHECK_INT(pthread_create(&thread, NULL, touch, &ran), 0);
	CHECK_INT(pthread_join(thread, NULL), 0);
	CHECK(ran);
	for (size_t i = 0; i < N_OF(families); i++) {
		int fd = socket(families[i][0], families[i][1], families[i][2]);

		CHECK(fd >= 0);
		CHECK_INT(close(fd), 0);
	}
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	CHECK(syscall(SYS_personality, 0xffffffff) >= 0);
	/* An ordinary request on a bad descriptor reaches the kernel. */
	CHECK_INT(syscall(SYS_ioctl, -1, 0x5413, 0), -1);
	CHECK_INT(errno, EBADF);
}

static void ordinary_work_goes_on(void)
{
	for (unsigned int v = 0; v < FILTER_NO_SOCKETS; v++)
		under(v, try_ordinary);
}

static void expect_no_sockets(void)
{
	CHECK_INT(socket(AF_UNIX, SOCK_STREAM, 0), -1);
	CHECK_INT(errno, EACCES);
	CHECK_INT(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), -1);
	CHECK_INT(errno, EACCES);
	CHECK_INT(socket(AF_INET6, SOCK_STREAM, 0), -1);
	CHECK_INT(errno, EACCES);
	run_true();
}

static void sockets_can_be_refused(void)
{
	under(FILTER_BARE | FILTER_NO_SOCKETS, expect_no_sockets);
}

/* No such process: the kernel was asked.  EPERM: the filter answered. */
static int error_of_ptrace(void)
{
	errno = 0;
	return syscall(SYS_ptrace, PTRACE_CONT, -1, 0, 0) < 0 ? errno : 0;
}

static void expect_ptrace(void)
{
	CHECK_INT(error_of_ptrace(), ESRCH);
}

static void expect_no_ptrace(void)
{
	CHECK_INT(error_of_ptrace(), EPERM);
}

static void ptrace_is_refused_on_request(void)
{
	under(FILTER_DEFAULT, expect_ptrace);
	under(FILTER_NO_PTRACE, expect_no_ptrace);
	under(FILTER_NESTED | FILTER_NO_PTRACE, expect_no_ptrace);
}

static void expect_namespaces(void)
{
	CHECK_INT(syscall(SYS_unshare, 0), 0);
	/* The kernel looks at clone3's size: it was asked. */
	CHECK_INT(syscall(SYS_clone3, NULL, 0), -1);
	CHECK_INT(errno, EINVAL);
	CHECK_INT(syscall(425, 1, NULL), -1);
	CHECK_INT(errno, EPERM);
}

static void nested_opens_namespaces_and_no_more(void)
{
	under(FILTER_NESTED, expect_namespaces);
}

#if defined(__x86_64__)
static long getpid_as_i386(void)
{
	long r = 20;

	__asm__ volatile("int $0x80"
			 : "+a"(r)
			 :
			 : "memory", "r8", "r9", "r10", "r11");
	return r;
}

static void expect_no_i386(void)
{
	CHECK_INT(getpid_as_i386(), -ENOSYS);
}

static bool has_i386(void)
{
	int status = -1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		/* A kernel without the emulation answers with a signal. */
		(void)signal(SIGSEGV, SIG_DFL);
		_exit(getpid_as_i386() == getpid() ? 0 : 1);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static void the_32_bit_door_is_closed(void)
{
	if (has_i386())
		under(FILTER_DEFAULT, expect_no_i386);
	else
		printf("# no 32-bit emulation in this kernel: no door\n");
}
#else
static void the_32_bit_door_is_closed(void)
{
	printf("# this architecture has no such door\n");
}
#endif

TESTS(T(refusals_arrive), T(ordinary_work_goes_on), T(sockets_can_be_refused),
      T(ptrace_is_refused_on_request), T(nested_opens_namespaces_and_no_more),
      T(the_32_bit_door_is_closed))
