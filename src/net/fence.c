/* SPDX-License-Identifier: Apache-2.0 */
#include "net/fence.h"

#include "base/auto.h"
#include "sys/caps.h"
#include "sys/kernel.h"
#include "sys/landlock.h"
#include "sys/proc.h"
#include "sys/seccomp.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define MEMORY_MAX (256UL << 20)

#define FILES_ALL ((1ULL << 13) - 1) /* every right of the first interface */

#if defined(__x86_64__)
#define ARCH 0xc000003eU
#elif defined(__aarch64__)
#define ARCH 0xc00000b7U
#else
#define ARCH 0U
#endif
_Static_assert(ARCH != 0, "the number of this architecture is missing");

#define LOAD	 0x20 /* BPF_LD | BPF_W | BPF_ABS */
#define IF_EQUAL 0x15 /* BPF_JMP | BPF_JEQ | BPF_K */
#define RETURN	 0x06 /* BPF_RET | BPF_K */
#define ALLOW	 0x7fff0000U
#define KILL	 0x80000000U

/* What the relay calls after its start, beside socket(). */
static const uint32_t calls[] = {
	SYS_accept4,
	SYS_brk,
	SYS_clock_gettime,
	SYS_close,
	SYS_connect,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	SYS_exit_group,
	SYS_getpeername,
	SYS_getrandom,
	SYS_getsockname,
	SYS_getsockopt,
	SYS_madvise,
	SYS_mmap,
	SYS_mremap,
	SYS_munmap,
	SYS_read,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_restart_syscall,
	SYS_rt_sigreturn,
	SYS_sendmsg,
	SYS_sendto,
	SYS_setsockopt,
	SYS_shutdown,
	SYS_write,
};
#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

/* Two instructions each, and those around them. */
#define FILTER_ROOM (2 * N_CALLS + 12)

static int load_filter(void)
{
	struct k_sock_filter f[FILTER_ROOM];
	size_t n = 0;

	f[n++] =
		(struct k_sock_filter){ LOAD, 0, 0,
					offsetof(struct k_seccomp_data, arch) };
	f[n++] = (struct k_sock_filter){ IF_EQUAL, 1, 0, ARCH };
	f[n++] = (struct k_sock_filter){ RETURN, 0, 0, KILL };
	f[n++] = (struct k_sock_filter){ LOAD, 0, 0,
					 offsetof(struct k_seccomp_data, nr) };
	for (size_t i = 0; i < N_CALLS; i++) {
		f[n++] = (struct k_sock_filter){ IF_EQUAL, 0, 1, calls[i] };
		f[n++] = (struct k_sock_filter){ RETURN, 0, 0, ALLOW };
	}
	f[n++] = (struct k_sock_filter){ IF_EQUAL, 0, 4, SYS_socket };
	f[n++] =
		(struct k_sock_filter){ LOAD, 0, 0,
					offsetof(struct k_seccomp_data, args) };
	f[n++] = (struct k_sock_filter){ IF_EQUAL, 1, 0, AF_INET };
	f[n++] = (struct k_sock_filter){ IF_EQUAL, 0, 1, AF_INET6 };
	f[n++] = (struct k_sock_filter){ RETURN, 0, 0, ALLOW };
	f[n++] = (struct k_sock_filter){ RETURN, 0, 0, KILL };
	return sys_seccomp_load(f, n);
}

static int forbid_files(void)
{
	auto_fd int ruleset = -1;
	int abi = sys_landlock_abi();

	if (abi == -ENOSYS || abi == -EOPNOTSUPP)
		return 0;
	if (abi < 0)
		return abi;
	ruleset = sys_landlock_create(FILES_ALL, 0);
	return ruleset < 0 ? ruleset : sys_landlock_restrict(ruleset);
}

int fence_close(void)
{
	static const struct caps none = { 0 };
	int r;

	r = sys_set_no_new_privs();
	if (r >= 0)
		r = sys_caps_bound(0);
	if (r == -EPERM)
		r = 0;
	if (r >= 0)
		r = sys_caps_set(&none);
	if (r >= 0)
		r = sys_become_undumpable();
	if (r >= 0)
		r = sys_limit_memory(MEMORY_MAX);
	if (r >= 0)
		r = sys_limit_processes(0, 0);
	if (r >= 0)
		r = sys_forbid_core();
	if (r >= 0)
		r = forbid_files();
	return r < 0 ? r : load_filter();
}
