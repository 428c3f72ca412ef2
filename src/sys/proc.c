/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/proc.h"

#include "base/auto.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/result.h"

#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define K_CLONE_PIDFD	      0x00001000
#define K_KEYCTL_JOIN	      1
#define K_CLOSE_RANGE_UNSHARE (1U << 1)

pid_t sys_clone(unsigned long flags, int *ret_pidfd)
{
	int pidfd = -1;
	long pid;

	if (ret_pidfd)
		flags |= K_CLONE_PIDFD;
	/*
	 * Not libc's clone(), which wants a second stack.  The pidfd goes
	 * where parent_tid would; both our architectures take it third.
	 */
	pid = syscall(SYS_clone, flags | SIGCHLD, NULL, &pidfd, NULL, NULL);
	if (pid < 0)
		return -errno;
	if (pid > 0 && ret_pidfd)
		*ret_pidfd = pidfd;
	return (pid_t)pid;
}

pid_t sys_fork_beside(int (*fn)(void *arg), void *arg, void *stack, size_t size)
{
	return RESULT(clone(fn, (char *)stack + size,
			    CLONE_VM | CLONE_FILES | SIGCHLD, arg));
}

pid_t sys_vfork_with(int (*fn)(void *arg), void *arg, void *stack, size_t size,
		     int flags)
{
	return RESULT(clone(fn, (char *)stack + size,
			    CLONE_VM | CLONE_VFORK | SIGCHLD | flags, arg));
}

void sys_exit(int status)
{
	_exit(status);
}

void *sys_shared_memory(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

void sys_shared_memory_free(void *page, size_t size)
{
	if (page)
		(void)munmap(page, size);
}

ssize_t sys_read_memory(pid_t pid, uint64_t address, void *buf, size_t size)
{
	const struct iovec to = { buf, size };
	const struct iovec from = { (void *)(uintptr_t)address, size };

	return RESULT(process_vm_readv(pid, &to, 1, &from, 1, 0));
}

int sys_execve(const char *path, char *const argv[], char *const envp[])
{
	(void)execve(path, argv, envp);
	return -errno;
}

static int exec_or_sh(const char *name, char **argv, char *const envp[])
{
	static char sh[] = "/bin/sh";
	int r;

	r = sys_execve(name, argv, envp);
	if (r != -ENOEXEC)
		return r;
	argv[-1] = sh;
	/* exec wants char *, and does not write. */
	memcpy(&argv[0], &name, sizeof(name));
	return sys_execve(sh, argv - 1, envp);
}

int sys_execvpe(const char *file, char **argv, char *const envp[],
		const char *path_list)
{
	char name[PATH_MAX];
	int result = -ENOENT;

	if (file[0] == '\0')
		return -ENOENT;
	if (strchr(file, '/'))
		return exec_or_sh(file, argv, envp);

	for (const char *p = path_list;; p++) {
		size_t n = strcspn(p, ":");
		int r;

		r = snprintf(name, sizeof(name), "%.*s%s%s", (int)n, p,
			     n ? "/" : "", file);
		if (r > 0 && (size_t)r < sizeof(name)) {
			r = exec_or_sh(name, argv, envp);
			/* Something there that cannot be run outweighs nothing.
			 */
			if (r == -EACCES)
				result = r;
			else if (r != -ENOENT && r != -ENOTDIR)
				return r;
		}
		p += n;
		if (*p == '\0')
			return result;
	}
}

pid_t sys_waitpid(pid_t pid, int *ret_status, int flags)
{
	pid_t got;

	do
		got = waitpid(pid, ret_status, flags);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

int sys_kill(pid_t pid, int sig)
{
	return RESULT(kill(pid, sig));
}

pid_t sys_pidfd_pid(int pidfd)
{
	char path[48], text[512];
	const char *line;
	ssize_t n;
	int pid;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	n = sys_read_file_at(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return (pid_t)n;
	line = strstr(text, "Pid:");
	if (!line)
		return -EBADMSG;
	pid = (int)strtol(line + sizeof("Pid:") - 1, NULL, 10);
	return pid > 0 ? pid : -ESRCH;
}

int sys_pidfd_kill(int pidfd, int sig)
{
	return (int)RESULT(syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0));
}

int sys_pidfd_open(pid_t pid)
{
	return (int)RESULT(syscall(SYS_pidfd_open, pid, 0));
}

int sys_own_pidfd(void)
{
	return sys_pidfd_open(getpid());
}

/* The letter for its state; '\0': unknown. */
static char state_of(pid_t pid)
{
	char path[32], text[512];
	const char *name_end;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (sys_read_file_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return '\0';
	/* The name before it may contain anything, this bracket too. */
	name_end = strrchr(text, ')');
	if (!name_end || name_end[1] != ' ')
		return '\0';
	return name_end[2];
}

bool sys_is_stopped(pid_t pid)
{
	char state = state_of(pid);

	return state ? state == 'T' : kill(pid, 0) == 0;
}

bool sys_has_ended(pid_t pid)
{
	char state = state_of(pid);

	return state ? state == 'Z' || state == 'X' : kill(pid, 0) < 0;
}

pid_t sys_getpid(void)
{
	return getpid();
}

pid_t sys_getppid(void)
{
	return getppid();
}

void sys_kill_and_reap(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int sys_setsid(void)
{
	return RESULT(setsid());
}

int sys_setpgid(pid_t pid, pid_t group)
{
	return RESULT(setpgid(pid, group));
}

pid_t sys_getpgrp(void)
{
	return getpgrp();
}

pid_t sys_getsid(pid_t pid)
{
	return RESULT(getsid(pid));
}

pid_t sys_getpgid(pid_t pid)
{
	return RESULT(getpgid(pid));
}

int sys_setns(int fd, int nstype)
{
	return RESULT(setns(fd, nstype));
}

int sys_unshare(int flags)
{
	return RESULT(unshare(flags));
}

int sys_gethostname(char *buf, size_t size)
{
	return RESULT(gethostname(buf, size));
}

int sys_sethostname(const char *name)
{
	return RESULT(sethostname(name, strlen(name)));
}

int sys_set_parent_death_signal(int sig)
{
	return RESULT(prctl(PR_SET_PDEATHSIG, sig, 0, 0, 0));
}

void sys_release_stack(void)
{
	const uintptr_t page = 4096, most = 256 * page;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	/* A page below: our own frame, and what calls beyond it use. */
	uintptr_t end = (frame & ~(page - 1)) - page;

	/* More than the stack has is refused, after what it has. */
	(void)madvise((void *)(end - most), most, MADV_DONTNEED);
}

int sys_become_subreaper(void)
{
	return RESULT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
}

/* The parent's pid, from the text of /proc/PID/stat. */
static pid_t parent_of(const char *name)
{
	char path[64], text[512];
	const char *end;

	(void)snprintf(path, sizeof(path), "/proc/%s/stat", name);
	if (sys_read_file_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	end = strrchr(text, ')');
	/* ") S PPID" */
	return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

/* Whether it is there. */
static bool look_at_process(pid_t pid, struct sys_process *ret)
{
	char path[32], text[512], *end;
	const char *name_end;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (sys_read_file_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	name_end = strrchr(text, ')');
	if (!name_end || name_end[1] != ' ' || !name_end[2])
		return false;
	*ret = (struct sys_process){ .pid = pid,
				     .is_stopped = name_end[2] == 'T' };
	/* After the state: the parent, the group, the session. */
	ret->parent = (pid_t)strtol(name_end + 3, &end, 10);
	(void)strtol(end, &end, 10);
	ret->session = (pid_t)strtol(end, &end, 10);
	return name_end[2] != 'Z' && name_end[2] != 'X';
}

bool sys_has_stopped(pid_t pid)
{
	struct sys_process found;

	return !look_at_process(pid, &found) || found.is_stopped;
}

bool sys_has_own_proc(void)
{
	char text[16];
	ssize_t n;

	n = sys_readlinkat(AT_FDCWD, "/proc/self", text, sizeof(text));
	return n > 0 && strtol(text, NULL, 10) == getpid();
}

int sys_processes(struct sys_process *ret, size_t size)
{
	_Alignas(struct k_dirent) char block[4096];
	pid_t own = getpid();
	size_t count = 0;
	ssize_t n;
	int dir;

	if (!sys_has_own_proc())
		return -ENOENT;
	dir = sys_openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		return dir;
	while ((n = sys_getdents(dir, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);
			pid_t pid = (pid_t)strtol(e->name, NULL, 10);
			struct sys_process found;

			at += e->reclen;
			if (pid <= 1 || pid == own ||
			    !look_at_process(pid, &found))
				continue;
			if (count < size)
				ret[count] = found;
			count++;
		}
	}
	sys_close(dir);
	return (int)count;
}

int sys_kill_children_of(pid_t parent, int sig)
{
	_Alignas(struct k_dirent) char block[4096];
	int dir = sys_openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);
	ssize_t n;
	int count = 0;

	if (dir < 0)
		return dir;
	while ((n = sys_getdents(dir, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);
			pid_t pid = (pid_t)strtol(e->name, NULL, 10);

			at += e->reclen;
			if (pid <= 1 || parent_of(e->name) != parent)
				continue;
			count++;
			(void)kill(pid, sig);
		}
	}
	sys_close(dir);
	return count;
}

int sys_kill_children(int sig)
{
	return sys_kill_children_of(getpid(), sig);
}

int sys_set_no_new_privs(void)
{
	return RESULT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

int sys_set_dumpable(int on)
{
	return RESULT(prctl(PR_SET_DUMPABLE, on, 0, 0, 0));
}

bool sys_has_no_new_privs(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

bool sys_is_dumpable(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0;
}

int sys_become_undumpable(void)
{
	int r = sys_set_dumpable(0);

	return r < 0 ? r : sys_is_dumpable() ? -EPERM : 0;
}

int sys_close_range(unsigned first, unsigned last)
{
	return (int)RESULT(
		syscall(SYS_close_range, first, last, K_CLOSE_RANGE_UNSHARE));
}

bool sys_core_is_stuck(void)
{
	struct rlimit own;

	return getrlimit(RLIMIT_CORE, &own) >= 0 && own.rlim_max == 0;
}

int sys_forbid_core(void)
{
	struct rlimit none = { 1, 1 };
	int r = RESULT(setrlimit(RLIMIT_CORE, &none));

	return r == -EPERM && sys_core_is_stuck() ? 0 : r;
}

int sys_limit_processes(uint64_t soft, uint64_t hard)
{
	struct rlimit limit = { 0 };

	if (getrlimit(RLIMIT_NPROC, &limit) < 0)
		return -errno;
	if (hard < limit.rlim_max)
		limit.rlim_max = hard;
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	return RESULT(setrlimit(RLIMIT_NPROC, &limit));
}

int sys_limit_memory(uint64_t bytes)
{
	const struct rlimit limit = { bytes, bytes };

	return RESULT(setrlimit(RLIMIT_DATA, &limit));
}

bool sys_may_grow_to(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 ||
	       limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

void sys_raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t sys_fd_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : limit.rlim_cur;
}

int sys_new_session_keyring(void)
{
	return (int)RESULT(syscall(SYS_keyctl, K_KEYCTL_JOIN, NULL));
}

uid_t sys_getuid(void)
{
	return (uid_t)getauxval(AT_UID);
}

gid_t sys_getgid(void)
{
	return (gid_t)getauxval(AT_GID);
}

uid_t sys_geteuid(void)
{
	return (uid_t)getauxval(AT_EUID);
}

int sys_setids(uid_t uid, gid_t gid)
{
	if (syscall(SYS_setresgid, gid, gid, gid) < 0)
		return -errno;
	return (int)RESULT(syscall(SYS_setresuid, uid, uid, uid));
}

int sys_loopback_up(void)
{
	struct ifreq req = { 0 };
	auto_fd int fd = -1;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	memcpy(req.ifr_name, "lo", sizeof("lo"));
	/* The kernel adds 127.0.0.1/8 and ::1 by itself when it comes up. */
	req.ifr_flags = IFF_UP | IFF_RUNNING;
	return RESULT(ioctl(fd, SIOCSIFFLAGS, &req));
}
