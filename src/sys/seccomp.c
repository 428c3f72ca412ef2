/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/seccomp.h"

#include "base/auto.h"
#include "sys/kernel.h"
#include "sys/proc.h"
#include "sys/result.h"

#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static long load(const struct k_sock_filter *code, size_t n,
		 unsigned long flags)
{
	struct k_sock_fprog prog = { (unsigned short)n, code };

	if (n == 0 || n > USHRT_MAX)
		return -EINVAL;
	return RESULT(
		syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER, flags, &prog));
}

int sys_seccomp_load(const struct k_sock_filter *code, size_t n)
{
	return (int)load(code, n, 0);
}

int sys_seccomp_load_notifying(const struct k_sock_filter *code, size_t n)
{
	long fd;

	fd = load(code, n,
		  K_SECCOMP_FLAG_NEW_LISTENER |
			  K_SECCOMP_FLAG_WAIT_KILLABLE_RECV);
	if (fd == -EINVAL)
		fd = load(code, n, K_SECCOMP_FLAG_NEW_LISTENER);
	return (int)fd;
}

/* Everything is allowed; a listener on it is never told of anything. */
static const struct k_sock_filter allow_all[] = { { 0x06, 0, 0, 0x7fff0000 } };

static int probe_in_child(void)
{
	auto_fd int fd = -1;

	if (sys_set_no_new_privs() < 0)
		return 2;
	fd = sys_seccomp_load_notifying(allow_all, 1);
	if (fd < 0)
		return 2;
	return sys_seccomp_notif_sync_wake_up(fd) < 0 ? 1 : 0;
}

int sys_seccomp_notif_probe(void)
{
	uint32_t action = K_SECCOMP_RET_USER_NOTIF;
	int status = 0;
	pid_t pid;

	if (syscall(SYS_seccomp, K_SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
		return -EOPNOTSUPP;
	/* In a child: a listener cannot be taken off again. */
	pid = sys_clone(0, NULL);
	if (pid < 0)
		return pid;
	if (pid == 0)
		sys_exit(probe_in_child());
	pid = sys_waitpid(pid, &status, 0);
	if (pid < 0)
		return pid;
	if (status == 0)
		return 1;
	return status == 1 << 8 ? 0 : -EOPNOTSUPP;
}

int sys_seccomp_notif_recv(int listener, struct k_seccomp_notif *ret_notif)
{
	int r;

	do {
		/* The kernel insists on zeroes. */
		memset(ret_notif, 0, sizeof(*ret_notif));
		r = RESULT(ioctl(listener, K_SECCOMP_NOTIF_RECV, ret_notif));
	} while (r == -EINTR);
	return r;
}

int sys_seccomp_notif_answer(int listener, uint64_t id, int error)
{
	struct k_seccomp_notif_resp resp = {
		.id = id,
		.error = -error,
		.flags = error ? 0 : K_SECCOMP_USER_NOTIF_CONTINUE,
	};

	return RESULT(ioctl(listener, K_SECCOMP_NOTIF_SEND, &resp));
}

int sys_seccomp_notif_done(int listener, uint64_t id)
{
	struct k_seccomp_notif_resp resp = { .id = id };

	return RESULT(ioctl(listener, K_SECCOMP_NOTIF_SEND, &resp));
}

bool sys_seccomp_notif_is_valid(int listener, uint64_t id)
{
	return ioctl(listener, K_SECCOMP_NOTIF_ID_VALID, &id) == 0;
}

int sys_seccomp_notif_sync_wake_up(int listener)
{
	return RESULT(ioctl(listener, K_SECCOMP_NOTIF_SET_FLAGS,
			    K_SECCOMP_NOTIF_SYNC_WAKE_UP));
}
