/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/trace.h"

#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/proc.h"
#include "sys/result.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROC_PATH 64

int sys_trace_hold(pid_t thread)
{
	long r = RESULT(ptrace(PTRACE_SEIZE, thread, NULL, NULL));

	if (r >= 0)
		r = RESULT(ptrace(PTRACE_INTERRUPT, thread, NULL, NULL));
	return r < 0 ? (int)r : 0;
}

bool sys_trace_has_stopped(pid_t thread)
{
	siginfo_t info;
	int r;

	memset(&info, 0, sizeof(info));
	do
		r = waitid(P_PID, (id_t)thread, &info,
			   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL);
	while (r < 0 && errno == EINTR);
	/* None of ours any more: it ended, and its leader was reaped. */
	return r < 0 || info.si_pid == thread;
}

char sys_thread_state(pid_t process, pid_t thread)
{
	char path[PROC_PATH], text[512];
	const char *name_end;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat",
		       (int)process, (int)thread);
	if (sys_read_file_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	name_end = strrchr(text, ')');
	if (!name_end || name_end[1] != ' ')
		return 0;
	return name_end[2];
}

/* Tells each number that is a name in the directory. */
static int each_number(const char *path, int (*fn)(void *ctx, pid_t number),
		       void *ctx)
{
	_Alignas(struct k_dirent) char block[4096];
	int dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
	ssize_t n = 0;
	int r = 0;

	if (dir < 0)
		return dir;
	while (r >= 0 && (n = sys_getdents(dir, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; r >= 0 && at < n;) {
			const struct k_dirent *e = (const void *)(block + at);
			pid_t number = (pid_t)strtol(e->name, NULL, 10);

			at += e->reclen;
			if (number > 0)
				r = fn(ctx, number);
		}
	}
	sys_close(dir);
	return r < 0 ? r : 0;
}

struct each {
	sys_thread_fn fn;
	void *ctx;
	pid_t own, process;
};

static int tell_thread(void *ctx, pid_t number)
{
	const struct each *each = ctx;

	return each->fn(each->ctx, each->process, number);
}

static int tell_process(void *ctx, pid_t number)
{
	struct each *each = ctx;
	char path[PROC_PATH];
	int r;

	if (number == 1 || number == each->own)
		return 0;
	each->process = number;
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)number);
	r = each_number(path, tell_thread, each);
	/* It has ended since it was listed. */
	return r == -ENOENT || r == -ESRCH ? 0 : r;
}

int sys_each_thread(sys_thread_fn fn, void *ctx)
{
	struct each each = { .fn = fn, .ctx = ctx, .own = getpid() };

	if (!sys_has_own_proc())
		return -ENOENT;
	return each_number("/proc", tell_process, &each);
}

pid_t sys_last_thread(void)
{
	char text[256];
	const char *last;
	ssize_t n =
		sys_read_file_at(AT_FDCWD, "/proc/loadavg", text, sizeof(text));

	if (n < 0)
		return (pid_t)n;
	last = strrchr(text, ' ');
	return last ? (pid_t)strtol(last + 1, NULL, 10) : -EINVAL;
}

pid_t sys_tracer_of(pid_t process, pid_t thread)
{
	static const char key[] = "\nTracerPid:";
	char path[PROC_PATH], text[4096];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status",
		       (int)process, (int)thread);
	if (sys_read_file_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, key);
	return at ? (pid_t)strtol(at + sizeof(key) - 1, NULL, 10) : 0;
}

bool sys_waits_for_vfork(pid_t process, pid_t thread)
{
	char path[PROC_PATH], text[256], *end;
	long call;

	if (sys_thread_state(process, thread) != 'D')
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall",
		       (int)process, (int)thread);
	if (sys_read_file_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	call = strtol(text, &end, 10);
	if (end == text)
		return false;
#ifdef SYS_vfork
	if (call == SYS_vfork)
		return true;
#endif
	/* The flags of clone3() are in memory. */
	return call == SYS_clone3 ||
	       (call == SYS_clone && strtoul(end, NULL, 16) & CLONE_VFORK);
}
