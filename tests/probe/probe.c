/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct check checks[] = {
	{ "calls", "[all]", check_calls },
	{ "clone", "FLAGS", check_clone },
	{ "clone3", "", check_clone3 },
	{ "foreign", "int80|x32|beyond", check_foreign },
	{ "privileges", "", look_privileges },
	{ "fds", "", look_fds },
	{ "root", "", look_root },
	{ "ids", "", look_ids },
	{ "pids", "", look_pids },
	{ "limits", "", look_limits },
	{ "open", "r|w|rw|create|path PATH", act_open },
	{ "unlink", "PATH", act_unlink },
	{ "mknod", "PATH MAJOR MINOR", act_mknod },
	{ "ioctl", "FD REQUEST", act_ioctl },
	{ "connect", "PATH|@ABSTRACT", act_connect },
	{ "ptrace", "PID", act_ptrace },
	{ "ptrace-child", "", act_ptrace_child },
	{ "kill", "PID SIGNAL", act_kill },
	{ "shm", "KEY", act_shm },
	{ "queue", "NAME", act_queue },
	{ "socket", "FAMILY TYPE PROTOCOL", act_socket },
	{ "signals", "", act_signals },
	{ "linger", "COUNT [deaf|forking]", act_linger },
	{ "leave", "DIRECTORY-FD", act_leave },
	{ "nested", "COUNT [PROCESSES]", act_nested },
	{ "overrule", "", act_overrule },
	{ "rename", "OLD NEW [FLAGS]", act_rename },
	{ "rename-at", "DIRECTORY NAME DIRECTORY NAME", act_rename_at },
	{ "rename-open", "OLD NEW", act_rename_open },
	{ "rename-landlocked", "OLD NEW", act_rename_landlocked },
	{ "deny", "CALL ERRNO ... -- COMMAND ...", deny_main },
	{ "cut", "CALL N -- COMMAND ...", cut_main },
};

static const struct {
	const char *name;
	int code;
} errnos[] = {
	{ "OK", 0 },
	{ "EPERM", EPERM },
	{ "ENOENT", ENOENT },
	{ "ESRCH", ESRCH },
	{ "EINTR", EINTR },
	{ "EIO", EIO },
	{ "ENXIO", ENXIO },
	{ "EBADF", EBADF },
	{ "ECHILD", ECHILD },
	{ "EAGAIN", EAGAIN },
	{ "ENOMEM", ENOMEM },
	{ "EACCES", EACCES },
	{ "EFAULT", EFAULT },
	{ "EBUSY", EBUSY },
	{ "EEXIST", EEXIST },
	{ "EXDEV", EXDEV },
	{ "ENODEV", ENODEV },
	{ "ENOTDIR", ENOTDIR },
	{ "EISDIR", EISDIR },
	{ "EINVAL", EINVAL },
	{ "EMFILE", EMFILE },
	{ "ENOTTY", ENOTTY },
	{ "ENOSPC", ENOSPC },
	{ "EROFS", EROFS },
	{ "ENOSYS", ENOSYS },
	{ "ENOTEMPTY", ENOTEMPTY },
	{ "ELOOP", ELOOP },
	{ "EOVERFLOW", EOVERFLOW },
	{ "EUSERS", EUSERS },
	{ "EOPNOTSUPP", EOPNOTSUPP },
	{ "EAFNOSUPPORT", EAFNOSUPPORT },
	{ "EPROTONOSUPPORT", EPROTONOSUPPORT },
	{ "ECONNREFUSED", ECONNREFUSED },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *errno_name(int code)
{
	static char number[16];

	if (code == 0)
		return "allowed";
	for (size_t i = 0; i < COUNT(errnos); i++)
		if (errnos[i].code == code)
			return errnos[i].name;
	(void)snprintf(number, sizeof(number), "%d", code);
	return number;
}

int errno_number(const char *name)
{
	for (size_t i = 0; i < COUNT(errnos); i++)
		if (strcmp(errnos[i].name, name) == 0)
			return errnos[i].code;
	return -1;
}

int answer(long result)
{
	(void)puts(errno_name(result < 0 ? errno : 0));
	return result < 0 ? 1 : 0;
}

static int usage(void)
{
	for (size_t i = 0; i < COUNT(checks); i++)
		(void)fprintf(stderr, "probe %s %s\n", checks[i].name,
			      checks[i].arguments);
	return 2;
}

/* The arguments that are not in brackets. */
static int n_wanted(const char *arguments)
{
	int n = 0;

	for (const char *p = arguments; *p && *p != '['; p++)
		n += p == arguments || (p[-1] == ' ' && *p != '.');
	return n;
}

int main(int argc, char **argv)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < COUNT(checks); i++)
		if (strcmp(checks[i].name, argv[1]) == 0) {
			if (argc - 2 < n_wanted(checks[i].arguments))
				break;
			return checks[i].run(argc - 2, argv + 2);
		}
	return usage();
}
