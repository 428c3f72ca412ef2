/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include "sys/kernel.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * One row for each system call that no box has any use for, with the row of the
 * threat model it belongs to.  The arguments make each fail for a reason of its
 * own where it is let through, so that the errno tells who refused.
 */

#define BAD	(-1L) /* a descriptor, an address or a number that is none */
#define NEW(ns) CLONE_NEW##ns

/* Of use as a number only; our headers may be older than the calls. */
enum {
	NR_PIDFD_GETFD = 438,
	NR_IO_URING_SETUP = 425,
	NR_IO_URING_ENTER = 426,
	NR_IO_URING_REGISTER = 427,
	NR_QUOTACTL_FD = 443,
	NR_SET_MEMPOLICY_HOME_NODE = 450,
	NR_STATMOUNT = 457,
	NR_LISTMOUNT = 458,
	NR_SETXATTRAT = 463,
	NR_REMOVEXATTRAT = 466,
	NR_OPEN_TREE_ATTR = 467,
	NR_FILE_SETATTR = 469,
	NR_BEYOND = 4000,
};

struct call {
	const char *threat;
	const char *name;
	long number;
	long args[5];
	int hurts; /* where it is allowed: only for use in a box */
};

static const struct call calls[] = {
	{ "V6",
	  "process_vm_readv",
	  SYS_process_vm_readv,
	  { 1, BAD, 1, BAD, 1 } },
	{ "V6",
	  "process_vm_writev",
	  SYS_process_vm_writev,
	  { 1, BAD, 1, BAD, 1 } },
	{ "V6", "pidfd_getfd", NR_PIDFD_GETFD, { BAD, BAD, 0 } },
	{ "V6", "kcmp", SYS_kcmp, { BAD, BAD, 99 } },
	{ "V11", "io_uring_setup", NR_IO_URING_SETUP, { 1, BAD } },
	{ "V11", "io_uring_enter", NR_IO_URING_ENTER, { BAD, 1, 1 } },
	{ "V11",
	  "io_uring_register",
	  NR_IO_URING_REGISTER,
	  { BAD, 0, BAD, 1 } },
	{ "V12", "mount", SYS_mount, { BAD, BAD, BAD, 0, 0 } },
	{ "V12", "umount2", SYS_umount2, { BAD, 0 } },
	{ "V12", "pivot_root", SYS_pivot_root, { BAD, BAD } },
	{ "V12", "chroot", SYS_chroot, { BAD } },
	{ "V12", "open_tree", SYS_open_tree, { BAD, BAD, 0 } },
	{ "V12", "open_tree_attr", NR_OPEN_TREE_ATTR, { BAD, BAD, 0 } },
	{ "V12", "move_mount", SYS_move_mount, { BAD, BAD, BAD, BAD, 0 } },
	{ "V12", "fsopen", SYS_fsopen, { BAD, 0 } },
	{ "V12", "fsconfig", SYS_fsconfig, { BAD, 0, BAD, 0, 0 } },
	{ "V12", "fsmount", SYS_fsmount, { BAD, 0, 0 } },
	{ "V12", "fspick", SYS_fspick, { BAD, BAD, 0 } },
	{ "V12", "mount_setattr", SYS_mount_setattr, { BAD, BAD, 0, BAD, 32 } },
	{ "V12", "setns", SYS_setns, { BAD, 0 } },
	{ "V12", "unshare(user)", SYS_unshare, { NEW(USER) } },
	{ "V12", "unshare(mount)", SYS_unshare, { NEW(NS) } },
	{ "V12", "unshare(pid)", SYS_unshare, { NEW(PID) } },
	{ "V12", "unshare(net)", SYS_unshare, { NEW(NET) } },
	{ "V12", "unshare(ipc)", SYS_unshare, { NEW(IPC) } },
	{ "V12", "unshare(uts)", SYS_unshare, { NEW(UTS) } },
	{ "V12", "unshare(cgroup)", SYS_unshare, { NEW(CGROUP) } },
	{ "V12", "sethostname", SYS_sethostname, { BAD, 1 } },
	{ "V12", "setdomainname", SYS_setdomainname, { BAD, 1 } },
	{ "V12", "statmount", NR_STATMOUNT, { BAD, BAD, 1, 0 } },
	{ "V12", "listmount", NR_LISTMOUNT, { BAD, BAD, 1, 0 } },
	{ "V14", "keyctl", SYS_keyctl, { 0, -3, 0 } },
	{ "V14", "add_key", SYS_add_key, { BAD, BAD, BAD, 1, -3 } },
	{ "V14", "request_key", SYS_request_key, { BAD, BAD, BAD, -3 } },
	{ "V16", "bpf", SYS_bpf, { BAD, BAD, 8 } },
	{ "V16",
	  "perf_event_open",
	  SYS_perf_event_open,
	  { BAD, 0, BAD, BAD, 0 } },
	{ "V16", "userfaultfd", SYS_userfaultfd, { BAD } },
	{ "V16", "kexec_load", SYS_kexec_load, { 0, 1, BAD, 0 }, 1 },
	{ "V16",
	  "kexec_file_load",
	  SYS_kexec_file_load,
	  { BAD, BAD, 0, BAD, 0 },
	  1 },
	{ "V16", "init_module", SYS_init_module, { BAD, 1, BAD } },
	{ "V16", "finit_module", SYS_finit_module, { BAD, BAD, 0 } },
	{ "V16", "delete_module", SYS_delete_module, { BAD, 0 } },
	{ "V16", "reboot", SYS_reboot, { 0, 0, 0, 0 } },
	{ "V16", "swapon", SYS_swapon, { BAD, 0 } },
	{ "V16", "swapoff", SYS_swapoff, { BAD } },
	{ "V16", "acct", SYS_acct, { BAD } },
	{ "V16", "quotactl", SYS_quotactl, { BAD, BAD, 0, BAD } },
	{ "V16", "quotactl_fd", NR_QUOTACTL_FD, { BAD, BAD, 0, BAD } },
	{ "V16", "syslog", SYS_syslog, { 99, BAD, 0 } },
	{ "V16", "open_by_handle_at", SYS_open_by_handle_at, { BAD, BAD, 0 } },
	{ "V16",
	  "name_to_handle_at",
	  SYS_name_to_handle_at,
	  { BAD, BAD, BAD, BAD, 0 } },
	{ "V16", "fanotify_init", SYS_fanotify_init, { BAD, 0 } },
	{ "V16", "vhangup", SYS_vhangup, { 0 }, 1 },
	{ "V16", "settimeofday", SYS_settimeofday, { BAD, 0 } },
	{ "V16", "clock_settime", SYS_clock_settime, { 0, BAD } },
	{ "V16", "personality", SYS_personality, { 0x0040000 } },
	{ "V16", "get_mempolicy", SYS_get_mempolicy, { 0, BAD, 0, 0, 0 } },
	{ "V16", "set_mempolicy", SYS_set_mempolicy, { 99, 0, 0 } },
	{ "V16",
	  "set_mempolicy_home_node",
	  NR_SET_MEMPOLICY_HOME_NODE,
	  { 1, 1, 1, 1 } },
	{ "V16", "mbind", SYS_mbind, { 1, 1, 99, 0, 0 } },
	{ "V16", "migrate_pages", SYS_migrate_pages, { 0, 8, BAD, BAD } },
	{ "V16", "move_pages", SYS_move_pages, { 0, 1, BAD, BAD, BAD } },
	{ "V16", "setxattrat", NR_SETXATTRAT, { BAD, BAD, 0, BAD, BAD } },
	{ "V16", "removexattrat", NR_REMOVEXATTRAT, { BAD, BAD, 0, BAD } },
	{ "V16", "file_setattr", NR_FILE_SETATTR, { BAD, BAD, BAD, 24, 0 } },
#ifdef SYS_ioperm
	{ "V16", "ioperm", SYS_ioperm, { BAD, 1, 1 } },
	{ "V16", "iopl", SYS_iopl, { 9 } },
	{ "V16", "modify_ldt", SYS_modify_ldt, { 99, BAD, 0 } },
	{ "V16", "uselib", SYS_uselib, { BAD } },
	{ "V16", "sysfs", SYS_sysfs, { 99 } },
	{ "V16", "ustat", SYS_ustat, { 0, BAD } },
#endif
};

/* In a child: what one call changes must not meet the next. */
static int errno_of(const struct call *call)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		const long *a = call->args;
		long r = syscall(call->number, a[0], a[1], a[2], a[3], a[4]);

		_exit(r == -1 ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return ECHILD;
	return WEXITSTATUS(status);
}

int check_calls(int argc, char **argv)
{
	int all = argc > 0 && strcmp(argv[0], "all") == 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (all || !calls[i].hurts)
			(void)printf("%s %s %s\n", calls[i].threat,
				     calls[i].name,
				     errno_name(errno_of(&calls[i])));
	return 0;
}

int check_clone(int argc, char **argv)
{
	unsigned long flags = strtoul(argv[0], NULL, 0);
	long pid;

	(void)argc;
	pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid((pid_t)pid, NULL, 0);
	return answer(pid);
}

int check_clone3(int argc, char **argv)
{
	uint64_t args[8] = { [4] = SIGCHLD };
	long pid;

	(void)argc;
	(void)argv;
	pid = syscall(435, args, sizeof(args));
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid((pid_t)pid, NULL, 0);
	return answer(pid);
}

#ifdef __x86_64__
static long get_pid_of_i386(void)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
	return r;
}
#else
static long get_pid_of_i386(void)
{
	return -ENOTTY;
}
#endif

/* Calls by other doors: each is getpid, or a number that nobody knows. */
int check_foreign(int argc, char **argv)
{
	long r;

	(void)argc;
	if (strcmp(argv[0], "int80") == 0) {
		r = get_pid_of_i386();
		errno = r < 0 ? (int)-r : 0;
		return answer(r < 0 ? -1 : r);
	}
	if (strcmp(argv[0], "x32") == 0)
		return answer(syscall(0x40000000L | SYS_getpid));
	return answer(syscall(NR_BEYOND));
}
