/* SPDX-License-Identifier: Apache-2.0 */
/* soak-modes: root userns */
#include "box/threads.h"
#include "holdback/error.h"
#include "sys/signal.h"
#include "sys/trace.h"
#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Threads that are held: in a pid namespace of its own, whose pid 1 is the
 * test.  The others count in shared memory, so that a run of them is seen.
 */

#define PATIENCE_MS 20000
#define COUNTERS    4

/* Shared by all processes of a test. */
struct shared {
	atomic_ulong counts[COUNTERS];
	atomic_int is_ready;
};

static struct shared *shared;

_Noreturn static void count(int number)
{
	for (;;) {
		atomic_fetch_add(&shared->counts[number], 1);
		(void)usleep(100);
	}
}

static void *count_thread(void *arg)
{
	count((int)(long)arg);
}

static void await(int n)
{
	int64_t end = sys_now_ms() + PATIENCE_MS;

	while (atomic_load(&shared->is_ready) < n) {
		CHECK(sys_now_ms() < end);
		(void)usleep(1000);
	}
}

/* Whether the counter moves within some time; for ever, if it has to. */
static bool moves(int number, bool has_to)
{
	unsigned long before = atomic_load(&shared->counts[number]);
	int64_t end = sys_now_ms() + (has_to ? PATIENCE_MS : 50);

	while (sys_now_ms() < end) {
		if (atomic_load(&shared->counts[number]) != before)
			return true;
		(void)usleep(1000);
	}
	return false;
}

/* Runs `fn` as pid 1 of a namespace, with a /proc of its own. */
static void in_namespace(void (*fn)(void))
{
	pid_t pid = fork();
	int status = -1;

	CHECK(pid >= 0);
	if (pid == 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) < 0)
			_exit(77);
		pid = fork();
		if (pid == 0) {
			(void)mount("none", "/", NULL, MS_REC | MS_PRIVATE,
				    NULL);
			if (mount("proc", "/proc", "proc", 0, NULL) < 0)
				_exit(77);
			fn();
			_exit(0);
		}
		(void)waitpid(pid, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		printf("# no namespaces here\n");
		return;
	}
	CHECK_INT(WEXITSTATUS(status), 0);
}

static void begin(void)
{
	if (!shared)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	memset((void *)shared, 0, sizeof(*shared));
}

/*
 * A child that holds all others, tells how many, and waits to be killed.
 */
static pid_t hold_all(int *ret_n, int want)
{
	int fds[2], told[2] = { -1, -1 };
	pid_t pid;

	CHECK(pipe(fds) == 0);
	pid = fork();
	if (pid == 0) {
		struct hb_error err = { 0 };
		struct threads h = { 0 };

		told[0] = threads_hold(&h, sys_now_ms() + 2000, &err);
		told[1] = (int)h.n;
		(void)!write(fds[1], told, sizeof(told));
		while (told[0] >= 0)
			(void)pause();
		_exit(0);
	}
	CHECK_INT(read(fds[0], told, sizeof(told)), sizeof(told));
	(void)close(fds[0]);
	(void)close(fds[1]);
	CHECK_INT(told[0], want);
	*ret_n = told[1];
	return pid;
}

static void let_go(pid_t holder)
{
	(void)kill(holder, SIGKILL);
	(void)waitpid(holder, NULL, 0);
}

static void threads_inside(void)
{
	int n = 0;
	pid_t holder;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t thread;

		for (long i = 1; i < COUNTERS; i++)
			(void)pthread_create(&thread, NULL, count_thread,
					     (void *)i);
		atomic_store(&shared->is_ready, 1);
		count(0);
	}
	await(1);
	for (int round = 0; round < 20; round++) {
		holder = hold_all(&n, 0);
		CHECK_INT(n, COUNTERS);
		if (round == 0)
			for (int i = 0; i < COUNTERS; i++)
				CHECK(!moves(i, false));
		let_go(holder);
		for (int i = 0; i < COUNTERS; i++)
			CHECK(moves(i, true));
	}
}

static void every_thread_stops_and_goes_on(void)
{
	begin();
	in_namespace(threads_inside);
}

static void stopped_inside(void)
{
	int n = 0, status = 0;
	pid_t pid = fork();

	if (pid == 0)
		count(0);
	CHECK(moves(0, true));
	(void)kill(pid, SIGSTOP);
	CHECK(waitpid(pid, &status, WUNTRACED) == pid);
	let_go(hold_all(&n, 0));
	CHECK_INT(n, 1);
	CHECK(!moves(0, false));
	/* Its parent hears nothing of it either. */
	CHECK_INT(waitpid(pid, &status, WUNTRACED | WCONTINUED | WNOHANG), 0);
	(void)kill(pid, SIGCONT);
	CHECK(moves(0, true));
}

static void a_stopped_job_stays_stopped(void)
{
	begin();
	in_namespace(stopped_inside);
}

static void unseen_inside(void)
{
	int n = 0, status = 0;
	pid_t pid = fork();

	if (pid == 0)
		count(0);
	CHECK(moves(0, true));
	for (int i = 0; i < 20; i++) {
		pid_t holder = hold_all(&n, 0);

		CHECK_INT(
			waitpid(pid, &status, WUNTRACED | WCONTINUED | WNOHANG),
			0);
		let_go(holder);
		CHECK_INT(
			waitpid(pid, &status, WUNTRACED | WCONTINUED | WNOHANG),
			0);
	}
	CHECK(moves(0, true));
}

static void no_parent_sees_a_stop(void)
{
	begin();
	in_namespace(unseen_inside);
}

static int vfork_child(void *arg)
{
	(void)arg;
	atomic_store(&shared->is_ready, 1);
	count(0);
}

static void vfork_inside(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int n = 0;
	pid_t holder;
	pid_t pid = fork();

	if (pid == 0) {
		(void)clone(vfork_child, stack + sizeof(stack),
			    CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
		_exit(0);
	}
	await(1);
	CHECK(moves(0, true));
	holder = hold_all(&n, 0);
	CHECK_INT(n, 2);
	CHECK(!moves(0, false));
	let_go(holder);
	CHECK(moves(0, true));
}

static void a_parent_in_vfork_counts_as_stopped(void)
{
	begin();
	in_namespace(vfork_inside);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int sig)
{
	(void)sig;
	n_signals++;
	atomic_fetch_add(&shared->counts[1], 1);
}

/* Also one on whose delivery the thread was held. */
static void signals_inside(void)
{
	int n = 0;
	unsigned long sent = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct sigaction act = { .sa_handler = on_signal };

		(void)sigaction(SIGUSR1, &act, NULL);
		atomic_store(&shared->is_ready, 1);
		count(0);
	}
	await(1);
	for (int i = 0; i < 50; i++) {
		unsigned long seen = atomic_load(&shared->counts[1]);
		int64_t end = sys_now_ms() + PATIENCE_MS;
		pid_t holder;

		CHECK_INT(seen, sent);
		if (i % 2)
			(void)kill(pid, SIGUSR1);
		holder = hold_all(&n, 0);
		if (i % 2 == 0)
			(void)kill(pid, SIGUSR1);
		let_go(holder);
		sent++;
		while (atomic_load(&shared->counts[1]) < sent) {
			CHECK(sys_now_ms() < end);
			(void)usleep(100);
		}
	}
}

static void no_signal_is_lost(void)
{
	begin();
	in_namespace(signals_inside);
}

/* Our own child is traced by us, who are not held: it may run. */
static void debugged_inside(void)
{
	int n = 0;
	pid_t pid = fork();

	if (pid == 0)
		count(0);
	CHECK(moves(0, true));
	CHECK(ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0);
	let_go(hold_all(&n, -HB_E_BUSY));
	CHECK(moves(0, true));
}

static void what_cannot_be_held_is_a_failure(void)
{
	begin();
	in_namespace(debugged_inside);
}

static void forks_inside(void)
{
	int n = 0;

	for (int i = 0; i < COUNTERS; i++)
		if (fork() == 0) {
			for (;;) {
				pid_t pid = fork();

				if (pid == 0)
					_exit(0);
				(void)waitpid(pid, NULL, 0);
				atomic_fetch_add(&shared->counts[i], 1);
			}
		}
	for (int round = 0; round < 20; round++) {
		pid_t holder;

		for (int i = 0; i < COUNTERS; i++)
			CHECK(moves(i, true));
		holder = hold_all(&n, 0);
		CHECK(n >= COUNTERS);
		for (int i = 0; round < 3 && i < COUNTERS; i++)
			CHECK(!moves(i, false));
		let_go(holder);
	}
}

static void what_forks_all_the_time_is_held_whole(void)
{
	begin();
	in_namespace(forks_inside);
}

/*
 * A number in the list may be another thread's by now: of a process whose
 * second thread has executed a program, which then has the first one's.
 */
static void other_inside(void)
{
	pid_t holder, pid = fork();
	int status = -1;

	if (pid == 0)
		count(0);
	CHECK(moves(0, true));
	holder = fork();
	if (holder == 0) {
		struct box_thread known[4] = { { pid, pid, true } };
		struct threads h = { .threads = known,
				     .n = 1,
				     .last = sys_last_thread() };
		struct hb_error err = { 0 };

		if (threads_check(&h, &err) != 0)
			_exit(1);
		if (threads_hold(&h, sys_now_ms() + PATIENCE_MS, &err) != 0)
			_exit(2);
		if (h.n != 1 || threads_check(&h, &err) != 1)
			_exit(3);
		_exit(moves(0, false) ? 4 : 0);
	}
	CHECK(waitpid(holder, &status, 0) == holder);
	CHECK_INT(WEXITSTATUS(status), 0);
}

static void a_number_of_another_thread_is_not_held(void)
{
	begin();
	in_namespace(other_inside);
}

static void brief_inside(void)
{
	pid_t holder = fork();
	int status = -1;

	if (holder == 0) {
		struct threads h = { 0 };
		struct hb_error err = { 0 };
		pid_t brief;

		if (threads_hold(&h, sys_now_ms() + PATIENCE_MS, &err) != 0 ||
		    threads_check(&h, &err) != 1)
			_exit(1);
		brief = fork();
		if (brief == 0)
			_exit(0);
		if (waitpid(brief, NULL, 0) != brief)
			_exit(2);
		_exit(threads_check(&h, &err) != 0 ? 3 : 0);
	}
	CHECK(waitpid(holder, &status, 0) == holder);
	CHECK_INT(WEXITSTATUS(status), 0);
}

static void a_process_that_came_and_went_has_run(void)
{
	begin();
	in_namespace(brief_inside);
}

TESTS(T(every_thread_stops_and_goes_on), T(a_stopped_job_stays_stopped),
      T(no_parent_sees_a_stop), T(a_parent_in_vfork_counts_as_stopped),
      T(no_signal_is_lost), T(what_cannot_be_held_is_a_failure),
      T(what_forks_all_the_time_is_held_whole),
      T(a_number_of_another_thread_is_not_held),
      T(a_process_that_came_and_went_has_run))
