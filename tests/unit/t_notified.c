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
#define ALLOWED	      0x7fff0000U
#define NEVER	      0xfffffffeU
#define LAST	      469
#define REFUSED	      (1U << FILTER_REFUSED)
#define RENAMES	      (1U << FILTER_RENAMES)
#define WHITEOUT      4
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
	const struct filter_place (*notified)[FILTER_NOTIFIED_MAX];
	int clone, unshare;
	int renames[4]; /* the third with its condition; -1: there is none */
} arches[ARCHES] = {
	[X86] = { 0xc000003e,
		  filter_table_x86_64,
		  filter_notified_x86_64,
		  56,
		  272,
		  { 82, 264, 316, 446 } },
	[ARM] = { 0xc00000b7,
		  filter_table_aarch64,
		  filter_notified_aarch64,
		  220,
		  97,
		  { -1, 38, 276, 446 } },
};

static struct k_sock_filter code[FILTER_LONGEST];

/* With a listener for these classes: 1 << enum filter_class. */
static struct k_sock_fprog with_listener(const struct k_sock_fprog *table,
					 const struct filter_place *place,
					 unsigned classes)
{
	memcpy(code, table->filter, table->len * sizeof(*code));
	for (; place->class < FILTER_CLASSES; place++) {
		bool is_refused = place->class == FILTER_REFUSED;

		CHECK_INT(code[place->at].code, is_refused ? 0x06 : 0x15);
		CHECK_INT(code[place->at].k,
			  is_refused ? EPERM_VERDICT : NEVER);
		if (classes & 1U << place->class)
			code[place->at].k = is_refused
						    ? K_SECCOMP_RET_USER_NOTIF
						    : (uint32_t)place->nr;
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

static bool is_refused(int arch, unsigned variant, int nr, uint64_t first)
{
	return !(variant & FILTER_NESTED) && first & NEW_USER &&
	       (nr == arches[arch].clone || nr == arches[arch].unshare);
}

/* The last argument of renameat2 has a bit that keeps it from being asked. */
static bool is_rename(int arch, int nr, uint64_t last)
{
	const int *renames = arches[arch].renames;

	return nr >= 0 &&
	       (nr == renames[0] || nr == renames[1] ||
		(nr == renames[2] && !(last & WHITEOUT)) || nr == renames[3]);
}

static void compare_call(int arch, unsigned variant, unsigned classes, int nr,
			 uint64_t first, uint64_t last)
{
	struct k_seccomp_data data = {
		.nr = nr,
		.arch = arches[arch].audit,
		.args = { first, 1, 2, 3, last, 5 },
	};
	const struct k_sock_fprog heard = { arches[arch].table[variant].len,
					    code };
	uint32_t before = bpf_run(&arches[arch].table[variant], &data);
	uint32_t after = bpf_run(&heard, &data);

	if (classes & REFUSED && is_refused(arch, variant, nr, first)) {
		CHECK_INT(before, EPERM_VERDICT);
		CHECK_INT(after, K_SECCOMP_RET_USER_NOTIF);
	} else if (classes & RENAMES && is_rename(arch, nr, last)) {
		CHECK_INT(before, ALLOWED);
		CHECK_INT(after, K_SECCOMP_RET_USER_NOTIF);
	} else {
		CHECK_INT(after, before);
	}
}

static void compare(unsigned classes)
{
	for (int arch = 0; arch < ARCHES; arch++)
		for (unsigned v = 0; v < FILTER_VARIANTS; v++) {
			(void)with_listener(&arches[arch].table[v],
					    arches[arch].notified[v], classes);
			for (int nr = -1; nr <= LAST + 8; nr++)
				for (size_t i = 0; i < N_OF(firsts); i++) {
					compare_call(arch, v, classes, nr,
						     firsts[i], 1);
					compare_call(arch, v, classes, nr,
						     firsts[i], 5);
				}
		}
}

static void user_namespaces_are_asked_about_and_nothing_else(void)
{
	compare(REFUSED);
}

static void renames_are_asked_about_but_those_that_leave_a_whiteout(void)
{
	compare(RENAMES);
	compare(REFUSED | RENAMES);
}

/* By their numbers on x86_64, with what each must have in its arguments. */
static const struct {
	int nr;
	unsigned class;
	uint64_t args[6];
	bool is_heard;
} watched[] = {
	{ 2, FILTER_CALLS, { 0, 0x1 }, true }, /* open */
	{ 2, FILTER_CALLS, { 0, 0x80000 }, false },
	{ 257, FILTER_CALLS, { 0, 0, 0x241 }, true }, /* openat */
	{ 257, FILTER_CALLS, { 0, 0, 0x40 }, true },
	{ 257, FILTER_CALLS, { 0, 0, 0x90800 }, false },
	{ 257, FILTER_LOOKS, { 0, 0, 0x90800 }, true },
	{ 437, FILTER_CALLS, { 0 }, true },	/* openat2 */
	{ 90, FILTER_CALLS, { 0, 0 }, true },	/* chmod */
	{ 452, FILTER_CALLS, { 0 }, true },	/* fchmodat2 */
	{ 280, FILTER_CALLS, { 5, 0 }, false }, /* utimensat of a descriptor */
	{ 280, FILTER_CALLS, { 5, 0x7000 }, true },
	{ 59, FILTER_CALLS, { 0 }, true },  /* execve */
	{ 1, FILTER_CALLS, { 0 }, false },  /* write */
	{ 91, FILTER_CALLS, { 0 }, false }, /* fchmod */
	{ 16, FILTER_CALLS, { 0 }, false }, /* ioctl */
	{ 46, FILTER_CALLS, { 0 }, false }, /* sendmsg: the listener's own */
	{ 272, FILTER_REFUSED, { NEW_USER }, true }, /* unshare */
	{ 272, FILTER_REFUSED, { 0 }, false },
	{ 82, FILTER_RENAMES, { 0 }, true }, /* rename */
};

static void
calls_for_the_log_are_asked_about_by_a_program_that_refuses_none(void)
{
	const struct k_sock_fprog *table = &filter_watch_x86_64;
	const struct k_sock_fprog heard = { table->len, code };

	for (size_t i = 0; i < N_OF(watched); i++) {
		struct k_seccomp_data data = { .nr = watched[i].nr,
					       .arch = arches[X86].audit };

		memcpy(data.args, watched[i].args, sizeof(data.args));
		CHECK_INT(bpf_run(table, &data), ALLOWED);
		memcpy(code, table->filter, table->len * sizeof(*code));
		for (const struct filter_place *p = filter_watched_x86_64;
		     p->class < FILTER_CLASSES; p++)
			if (p->class == watched[i].class)
				code[p->at].k =
					p->class == FILTER_REFUSED
						? K_SECCOMP_RET_USER_NOTIF
						: (uint32_t)p->nr;
		CHECK_INT(bpf_run(&heard, &data),
			  watched[i].is_heard ? K_SECCOMP_RET_USER_NOTIF
					      : ALLOWED);
		/* Another architecture is the other program's. */
		data.arch = 0x40000003;
		CHECK_INT(bpf_run(&heard, &data), ALLOWED);
	}
}

static void a_box_that_may_nest_refuses_nothing(void)
{
	for (int arch = 0; arch < ARCHES; arch++)
		for (unsigned v = 0; v < FILTER_VARIANTS; v++)
			CHECK_INT(arches[arch].notified[v][0].class ==
					  FILTER_REFUSED,
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
				      filter_notified[FILTER_DEFAULT], REFUSED);
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
      T(renames_are_asked_about_but_those_that_leave_a_whiteout),
      T(calls_for_the_log_are_asked_about_by_a_program_that_refuses_none),
      T(a_box_that_may_nest_refuses_nothing),
      T(without_its_listener_a_call_still_fails),
      T(the_plain_filter_on_top_refuses_without_a_listener),
      T(there_is_no_second_listener_beside_the_first),
      T(a_look_does_not_wait_for_a_caller_that_was_killed))
