/* SPDX-License-Identifier: Apache-2.0 */
/* soak-modes: root userns */
#define FILTER_EVERY_ARCH
#include "filter_table.h"

#include "bpf.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The programs with a listener, which box/seccomp.c makes of the tables: they
 * ask about calls for a user namespace, and are the same in all else.  Then
 * what the kernel makes of such a program once its listener is gone.
 */

#define EPERM_VERDICT 0x00050001U
#define LAST	      469
#define NEW_USER      0x10000000U
#define HIGH	      (1ULL << 32)
#define N_OF(a)	      (sizeof(a) / sizeof((a)[0]))

enum {
	X86,
	ARM,
	ARCHES,
};

static const struct {
	uint32_t audit;
	const struct k_sock_fprog *table;
	const unsigned short (*notified)[FILTER_NOTIFIED_MAX];
	int clone, unshare;
} arches[ARCHES] = {
	[X86] = { 0xc000003e, filter_table_x86_64, filter_notified_x86_64, 56,
		  272 },
	[ARM] = { 0xc00000b7, filter_table_aarch64, filter_notified_aarch64,
		  220, 97 },
};

static struct k_sock_filter code[FILTER_LONGEST];

static struct k_sock_fprog with_listener(const struct k_sock_fprog *table,
					 const unsigned short *notified)
{
	memcpy(code, table->filter, table->len * sizeof(*code));
	for (size_t i = 0; i < FILTER_NOTIFIED_MAX && notified[i] > 0; i++) {
		CHECK_INT(code[notified[i]].code, 0x06);
		CHECK_INT(code[notified[i]].k, EPERM_VERDICT);
		code[notified[i]].k = K_SECCOMP_RET_USER_NOTIF;
	}
	return (struct k_sock_fprog){ table->len, code };
}

static const uint64_t firsts[] = {
	0,
	1,
	0x11,
	0x003d0f00,
	0x7e020000,
	HIGH,
	~0ULL,
	NEW_USER,
	NEW_USER | 0x11,
	NEW_USER | 0x20011,
	NEW_USER | HIGH,
	0x08000011,
	0x20000011,
};

static bool is_asked(int arch, unsigned variant, int nr, uint64_t first)
{
	return !(variant & FILTER_NESTED) && first & NEW_USER &&
	       (nr == arches[arch].clone || nr == arches[arch].unshare);
}

static void compare_call(int arch, unsigned variant,
			 const struct k_sock_fprog *heard, int nr,
			 uint64_t first)
{
	struct k_seccomp_data data = {
		.nr = nr,
		.arch = arches[arch].audit,
		.args = { first, 1, 2, 3, 4, 5 },
	};
	uint32_t before = bpf_run(&arches[arch].table[variant], &data);
	uint32_t after = bpf_run(heard, &data);

	if (!is_asked(arch, variant, nr, first)) {
		CHECK_INT(after, before);
		return;
	}
	CHECK_INT(before, EPERM_VERDICT);
	CHECK_INT(after, K_SECCOMP_RET_USER_NOTIF);
}

static void compare(int arch, unsigned variant,
		    const struct k_sock_fprog *heard)
{
	for (int nr = -1; nr <= LAST + 8; nr++)
		for (size_t i = 0; i < N_OF(firsts); i++)
			compare_call(arch, variant, heard, nr, firsts[i]);
}

static void user_namespaces_are_asked_about_and_nothing_else(void)
{
	for (int arch = 0; arch < ARCHES; arch++)
		for (unsigned v = 0; v < FILTER_VARIANTS; v++) {
			struct k_sock_fprog heard =
				with_listener(&arches[arch].table[v],
					      arches[arch].notified[v]);

			compare(arch, v, &heard);
		}
}

static void a_box_that_may_nest_asks_nothing(void)
{
	for (int arch = 0; arch < ARCHES; arch++)
		for (unsigned v = 0; v < FILTER_VARIANTS; v++)
			CHECK_INT(arches[arch].notified[v][0] > 0,
				  !(v & FILTER_NESTED));
}

static int load(const struct k_sock_fprog *program, unsigned long flags)
{
	return (int)syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER, flags,
			    program);
}

static int error_of_unshare(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER) < 0 ? errno : 0;
}

static int error_of_clone(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL,
			   NULL);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? errno : 0;
}

static void expect_both(int error)
{
	CHECK_INT(error_of_unshare(), error);
	CHECK_INT(error_of_clone(), error);
}

/* Runs BODY in a child under the default filter with a listener. */
static void under(void (*body)(int listener))
{
	int status = -1;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		struct k_sock_fprog heard =
			with_listener(&filter_table[FILTER_DEFAULT],
				      filter_notified[FILTER_DEFAULT]);
		int listener;

		CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
		listener = load(&heard, K_SECCOMP_FLAG_NEW_LISTENER);
		CHECK(listener >= 0);
		body(listener);
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
}

static void lose_listener(int listener)
{
	CHECK_INT(close(listener), 0);
	expect_both(ENOSYS);
}

static void without_its_listener_a_call_still_fails(void)
{
	under(lose_listener);
}

/* What a box does whose supervisor cannot listen. */
static void add_plain(int listener)
{
	CHECK_INT(load(&filter_table[FILTER_DEFAULT], 0), 0);
	expect_both(EPERM);
	CHECK_INT(close(listener), 0);
	expect_both(EPERM);
}

static void the_plain_filter_on_top_refuses_without_a_listener(void)
{
	under(add_plain);
}

static void add_listener(int listener)
{
	CHECK_INT(load(&(struct k_sock_fprog){ filter_table[0].len, code },
		       K_SECCOMP_FLAG_NEW_LISTENER),
		  -1);
	CHECK_INT(errno, EBUSY);
	CHECK_INT(close(listener), 0);
}

static void there_is_no_second_listener_beside_the_first(void)
{
	under(add_listener);
}

/*
 * The caller is killed between poll() and the look: it would be for ever if
 * that waited.
 */
static void kill_caller(int listener)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };
	struct k_seccomp_notif call;
	pid_t pid;

	for (int i = 0; i < 50; i++) {
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0)
			_exit(error_of_unshare());
		CHECK_INT(poll(&fd, 1, -1), 1);
		CHECK_INT(kill(pid, SIGKILL), 0);
		CHECK_INT(waitpid(pid, NULL, 0), pid);
		memset(&call, 0, sizeof(call));
		CHECK_INT(ioctl(listener, K_SECCOMP_NOTIF_RECV, &call), -1);
		CHECK_INT(errno, ENOENT);
		CHECK_INT(poll(&fd, 1, 0), 0);
	}
}

static void a_look_does_not_wait_for_a_caller_that_was_killed(void)
{
	under(kill_caller);
}

TESTS(T(user_namespaces_are_asked_about_and_nothing_else),
      T(a_box_that_may_nest_asks_nothing),
      T(without_its_listener_a_call_still_fails),
      T(the_plain_filter_on_top_refuses_without_a_listener),
      T(there_is_no_second_listener_beside_the_first),
      T(a_look_does_not_wait_for_a_caller_that_was_killed))
