/* SPDX-License-Identifier: Apache-2.0 */
#include "filter.h"
#include "probe.h"

#include "sys/kernel.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * probe deny CALL[:N=VALUE|:N&MASK|:N~TEXT] ERRNO ... -- COMMAND ...
 *
 * Runs the command where a system call fails with that errno: always, or if
 * its N-th argument (from 0, its lower half) has that value, or any bit of
 * MASK, or is the address of TEXT.  So an older kernel or a host that refuses
 * is had for the asking.  The errno "OK" makes the call do nothing and say that
 * it did; "=N" makes it return N instead.
 *
 * A filter cannot read memory.  For TEXT the call waits until this program,
 * which stays behind, has read it.
 */

static const struct {
	const char *name;
	long number;
} names[] = {
	{ "capset", SYS_capset },
	{ "chdir", SYS_chdir },
	{ "clone", SYS_clone },
	{ "close_range", SYS_close_range },
	{ "execve", SYS_execve },
	{ "fchdir", SYS_fchdir },
	{ "fsconfig", SYS_fsconfig },
	{ "fsmount", SYS_fsmount },
	{ "fsopen", SYS_fsopen },
	{ "ioctl", SYS_ioctl },
	{ "keyctl", SYS_keyctl },
	{ "landlock_add_rule", SYS_landlock_add_rule },
	{ "landlock_create_ruleset", SYS_landlock_create_ruleset },
	{ "landlock_restrict_self", SYS_landlock_restrict_self },
	{ "mkdirat", SYS_mkdirat },
	{ "mount", SYS_mount },
	{ "mount_setattr", SYS_mount_setattr },
	{ "move_mount", SYS_move_mount },
	{ "open_tree", SYS_open_tree },
	{ "openat", SYS_openat },
	{ "openat2", SYS_openat2 },
	{ "pivot_root", SYS_pivot_root },
	{ "prctl", SYS_prctl },
	{ "prlimit64", SYS_prlimit64 },
	{ "renameat2", SYS_renameat2 },
	{ "seccomp", SYS_seccomp },
	{ "sendmsg", SYS_sendmsg },
	{ "sendto", SYS_sendto },
	{ "setns", SYS_setns },
	{ "setpgid", SYS_setpgid },
	{ "setsid", SYS_setsid },
	{ "setsockopt", SYS_setsockopt },
	{ "socket", SYS_socket },
	{ "symlinkat", SYS_symlinkat },
	{ "umount2", SYS_umount2 },
	{ "unshare", SYS_unshare },
	{ "write", SYS_write },
};

static void add(struct filter *p, uint16_t code, uint32_t k, uint8_t jt,
		uint8_t jf)
{
	p->code[p->n++] = (struct k_sock_filter){ code, jt, jf, k };
}

static void load(struct filter *p, size_t offset)
{
	add(p, 0x20, (uint32_t)offset, 0, 0);
}

static long number_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == len &&
		    memcmp(names[i].name, name, len) == 0)
			return names[i].number;
	return -1;
}

int filter_watch(struct filter *p, const char *call)
{
	long number = number_of(call, strlen(call));

	if (number < 0)
		return -1;
	load(p, offsetof(struct k_seccomp_data, nr));
	add(p, 0x15, (uint32_t)number, 0, 1);
	add(p, 0x06, K_SECCOMP_RET_USER_NOTIF, 0, 0);
	return 0;
}

static int has_text(const struct filter *p, const struct k_seccomp_notif *call)
{
	char path[32], found[64] = "";
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u/mem", call->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1
		   : pread(fd, found, sizeof(found) - 1,
			   (off_t)call->data.args[p->text_index]);
	if (fd >= 0)
		(void)close(fd);
	return n > 0 && strcmp(found, p->text) == 0;
}

static int refuse_text(struct filter *p, const struct k_seccomp_notif *call)
{
	return has_text(p, call) ? -p->text_errno : 1;
}

/* That it worked; what it returned is the filter's value. */
static int give_value(struct filter *p, const struct k_seccomp_notif *call)
{
	(void)p;
	(void)call;
	return 0;
}

/* One rule; the number is loaded anew by whoever comes next. */
static int add_rule(struct filter *p, const char *spec, const char *error)
{
	size_t len = strcspn(spec, ":");
	long number = number_of(spec, len);
	int code = error[0] == '=' ? 0 : errno_number(error);
	uint32_t verdict = 0x00050000U | (uint32_t)code;
	unsigned value = 0;
	size_t index;
	char how;

	if (number < 0 || code < 0 || p->n + 6 > MAX_CODE)
		return -1;
	if (error[0] == '=') {
		p->answer = give_value;
		p->value = strtol(error + 1, NULL, 10);
		verdict = K_SECCOMP_RET_USER_NOTIF;
	}
	load(p, offsetof(struct k_seccomp_data, nr));
	if (spec[len] == '\0') {
		add(p, 0x15, (uint32_t)number, 0, 1);
	} else {
		index = (size_t)(spec[len + 1] - '0');
		if (index > 5 || !spec[len + 2] ||
		    !strchr("=&~", spec[len + 2]))
			return -1;
		how = spec[len + 2];
		spec += len + 3;
		if (how == '~') {
			p->answer = refuse_text;
			p->text = spec;
			p->text_index = index;
			p->text_errno = code;
			verdict = K_SECCOMP_RET_USER_NOTIF;
			how = '&';
			value = ~0U;
		} else {
			value = (unsigned)strtoul(spec, NULL, 0);
		}
		add(p, 0x15, (uint32_t)number, 0, 3);
		load(p, offsetof(struct k_seccomp_data, args) + 8 * index);
		add(p, how == '=' ? 0x15 : 0x45, value, 0, 1);
	}
	add(p, 0x06, verdict, 0, 0);
	return 0;
}

/*
 * With a capability no_new_privs can stay as it was: that is tested too.  A
 * descriptor to listen on, if there is a text to look for.
 */
static int install(const struct filter *p)
{
	struct k_sock_fprog prog = { p->n, p->code };
	unsigned long flags = p->answer ? K_SECCOMP_FLAG_NEW_LISTENER : 0;
	long r;

	r = syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (r >= 0)
		return (int)r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER, flags,
			    &prog);
}

/* Until nobody is left to whom the filter applies. */
static void answer_all(struct filter *p, int listener)
{
	struct pollfd poll_fd = { .fd = listener, .events = POLLIN };
	struct k_seccomp_notif call;

	while (poll(&poll_fd, 1, -1) >= 0 && !(poll_fd.revents & POLLHUP)) {
		struct k_seccomp_notif_resp resp = { 0 };

		memset(&call, 0, sizeof(call));
		if (ioctl(listener, K_SECCOMP_NOTIF_RECV, &call) < 0)
			continue;
		resp.id = call.id;
		resp.error = p->answer(p, &call);
		if (resp.error > 0) {
			resp.error = 0;
			resp.flags = K_SECCOMP_USER_NOTIF_CONTINUE;
		} else if (resp.error == 0) {
			resp.val = p->value;
		}
		(void)ioctl(listener, K_SECCOMP_NOTIF_SEND, &resp);
	}
}

/*
 * The child shares our descriptors until it executes, so that the one it gets
 * from the filter is ours, too.
 */
static int execute_watched(struct filter *p, char **argv)
{
	int tell[2], listener = -1, status = 0;
	long pid;

	if (pipe2(tell, O_CLOEXEC) < 0)
		return 2;
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		listener = install(p);
		if (write(tell[1], &listener, sizeof(listener)) < 0)
			_exit(2);
		(void)execvp(argv[0], argv);
		_exit(2);
	}
	if (pid < 0 || read(tell[0], &listener, sizeof(listener)) < 0 ||
	    listener < 0)
		return 2;
	p->child = (pid_t)pid;
	answer_all(p, listener);
	if (waitpid((pid_t)pid, &status, 0) < 0)
		return 2;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

int filter_execute(struct filter *p, char **argv)
{
	add(p, 0x06, 0x7fff0000U, 0, 0);
	if (p->answer)
		return execute_watched(p, argv);
	if (install(p) < 0) {
		perror("probe: cannot load the filter");
		return 2;
	}
	(void)execvp(argv[0], argv);
	perror("probe: cannot execute");
	return 2;
}

int deny_main(int argc, char **argv)
{
	struct filter p = { .n = 0 };
	int i = 0;

	while (i + 1 < argc && strcmp(argv[i], "--") != 0) {
		if (add_rule(&p, argv[i], argv[i + 1]) < 0) {
			(void)fprintf(stderr, "deny: cannot deny %s %s\n",
				      argv[i], argv[i + 1]);
			return 2;
		}
		i += 2;
	}
	if (i + 1 >= argc || strcmp(argv[i], "--") != 0)
		return 2;
	return filter_execute(&p, argv + i + 1);
}
