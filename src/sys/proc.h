/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_PROC_H
#define HB_SYS_PROC_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* System calls on processes and namespaces; conventions of sys/file.h. */

/*
 * Fork semantics with `flags` (CLONE_NEW*) added: the child's pid in the
 * parent, 0 in the child.  *ret_pidfd, if not NULL, gets a pidfd of the child.
 */
pid_t sys_clone(unsigned long flags, int *ret_pidfd);

/*
 * Runs `fn(arg)` in a child beside us that shares our memory and descriptors.
 * `fn` ends with sys_exit().  Both have one errno.  A call of `fn` that
 * fails may spoil the result of a call of ours.
 */
pid_t sys_fork_beside(int (*fn)(void *arg), void *arg, void *stack,
		      size_t size);

/*
 * Runs `fn(arg)` in a child that shares our memory and suspends us until it
 * executes a program or ends: no page table is copied.  `fn` must not return;
 * it ends with sys_exit() or exec.  `flags` are further CLONE_* ones.
 */
pid_t sys_vfork_with(int (*fn)(void *arg), void *arg, void *stack, size_t size,
		     int flags);

_Noreturn void sys_exit(int status);

/* Memory of zeroes that children made later share; NULL: there is none. */
void *sys_shared_memory(size_t size);
void sys_shared_memory_free(void *page, size_t size);

/*
 * Up to `size` bytes at `address` of another process: how many could be read,
 * which ends at the first page that it does not have.
 */
ssize_t sys_read_memory(pid_t pid, uint64_t address, void *buf, size_t size);

/* Returns only to say why it could not. */
int sys_execve(const char *path, char *const argv[], char *const envp[]);

/*
 * As execvp(), with `path_list` instead of $PATH: the first of its directories
 * that has `file`.  An executable file without a format is a script for sh.
 * argv[-1] must exist and be free: that is where "sh" goes.
 */
int sys_execvpe(const char *file, char **argv, char *const envp[],
		const char *path_list);

/* pid, or 0 if WNOHANG and nothing to report. */
pid_t sys_waitpid(pid_t pid, int *ret_status, int flags);

int sys_kill(pid_t pid, int sig);

/* The pid of the process behind a pidfd, as seen from here. */
pid_t sys_pidfd_pid(int pidfd);

/* A pidfd of a process, which is readable when that is gone.  -ESRCH. */
int sys_pidfd_open(pid_t pid);

/* A signal for exactly that process: its number may be another's by now. */
int sys_pidfd_kill(int pidfd, int sig);

/* A pidfd of ourselves: readable for the holder of a copy when we are gone. */
int sys_own_pidfd(void);

/* Whether it has ended, also if its parent does not know yet. */
bool sys_has_ended(pid_t pid);

/* Whether it is stopped by a signal just now; if there is no /proc: whether it
 * lives. */
bool sys_is_stopped(pid_t pid);

pid_t sys_getpid(void);
pid_t sys_getppid(void);

/* SIGKILL and wait.  After this there is no such process. */
void sys_kill_and_reap(pid_t pid);

int sys_setsid(void);
int sys_setpgid(pid_t pid, pid_t group);
pid_t sys_getpgrp(void);
pid_t sys_getpgid(pid_t pid);
pid_t sys_getsid(pid_t pid);

int sys_setns(int fd, int nstype);
int sys_unshare(int flags);
int sys_sethostname(const char *name);
int sys_gethostname(char *buf, size_t size);

/* The parent's death sends `sig`.  Racy alone: the caller checks its parent. */
int sys_set_parent_death_signal(int sig);

/*
 * Gives back the pages below the caller's frame, which calls before have left
 * behind.  For a process that waits for long from now on.
 */
void sys_release_stack(void);

/* Orphans below us become our children. */
int sys_become_subreaper(void);

/*
 * Sends `sig` to each of our children that is still there.  Returns how many
 * there were; -ENOENT without /proc.
 */
int sys_kill_children(int sig);

/*
 * The same for those of another process, which must be known to reap none
 * meanwhile.
 */
int sys_kill_children_of(pid_t parent, int sig);

/* Whether /proc is there and has our numbers. */
bool sys_has_own_proc(void);

/* A process as /proc tells of it, all as seen from here. */
struct sys_process {
	pid_t pid;
	pid_t parent;
	pid_t session; /* 0: its leader is outside of our pid namespace */
	bool is_stopped;
};

/*
 * Up to `size` of the processes of our pid namespace but pid 1 and ourselves:
 * how many there are, which may be more.  -ENOENT if /proc is not of our
 * namespace, or is none.
 */
int sys_processes(struct sys_process *ret, size_t size);

/* Whether the process has stopped, or is not there any more. */
bool sys_has_stopped(pid_t pid);

int sys_set_no_new_privs(void);
bool sys_has_no_new_privs(void);
int sys_set_dumpable(int on);
bool sys_is_dumpable(void);

/* No process without privilege can trace this one; -EPERM: it still could. */
int sys_become_undumpable(void);

/* Closes `first` .. `last`; a later descriptor table of ours is not shared. */
int sys_close_range(unsigned first, unsigned last);

/*
 * No core file, and no handler of the host's: where core_pattern is a pipe, the
 * limit 0 still runs it, and 1 does not.  A hard limit of 0 cannot be raised to
 * 1, and stays.
 */
int sys_forbid_core(void);

/* Whether a hard limit of 0 is in force, which sys_forbid_core() has to leave.
 */
bool sys_core_is_stuck(void);

/*
 * So many processes and threads of our user in our user namespace, fewer if we
 * may not have as many; `hard` cannot be raised again.
 */
int sys_limit_processes(uint64_t soft, uint64_t hard);

/* So much memory of our own, for good. */
int sys_limit_memory(uint64_t bytes);

/*
 * Whether a file may become as large as that.  A write beyond it ends the
 * process by a signal.
 */
bool sys_may_grow_to(uint64_t size);

/* As many descriptors as we may have; commands would inherit that. */
void sys_raise_fd_limit(void);

/* How many that are; 0 if it cannot be told. */
uint64_t sys_fd_limit(void);

/* A session keyring of our own, so that the caller's is out of reach. */
int sys_new_session_keyring(void);

/* Who started us, as told at the start: costs nothing. */
uid_t sys_getuid(void);
gid_t sys_getgid(void);
uid_t sys_geteuid(void);
int sys_setids(uid_t uid, gid_t gid);

/* Brings the loopback interface of this network namespace up. */
int sys_loopback_up(void);

#endif
