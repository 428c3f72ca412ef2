/* SPDX-License-Identifier: Apache-2.0 */
#include "host/self.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "holdback/holdback.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/*
 * Where this installation lies, and what it stands on: bin/holdback beside
 * libexec/holdback/, in a built tree as below a prefix.
 */

#define SELF	       "/proc/self/exe"
#define CANNOT_EXECUTE 127
#define LIBEXEC	       "/libexec/holdback"

static bool is_behind(struct path_part dir)
{
	size_t n = sizeof(LIBEXEC) - 1;

	return dir.n >= n && memcmp(dir.s + dir.n - n, LIBEXEC, n) == 0;
}

int place_front(char ret[PATH_MAX])
{
	char self[PATH_MAX];
	struct path_part dir;
	ssize_t n;
	int r;

	n = sys_readlinkat(AT_FDCWD, SELF, self, sizeof(self));
	if (n < 0)
		return (int)n;
	dir = path_dirname(self);
	if (is_behind(dir))
		r = snprintf(ret, PATH_MAX, "%.*s/bin/holdback",
			     (int)(dir.n - (sizeof(LIBEXEC) - 1)), dir.s);
	else
		r = snprintf(ret, PATH_MAX, "%s", self);
	return r < 0 || r >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int place_stat_front(struct stat *ret)
{
	char path[PATH_MAX];
	int r = place_front(path);

	return r < 0 ? r : sys_fstatat(AT_FDCWD, path, ret, 0);
}

int place_helper(const char *name, char ret[PATH_MAX])
{
	char self[PATH_MAX];
	struct path_part dir;
	ssize_t n;
	int r;

	n = sys_readlinkat(AT_FDCWD, SELF, self, sizeof(self));
	if (n < 0)
		return (int)n;
	dir = path_dirname(self);
	/* One of the others executes its neighbour. */
	r = snprintf(ret, PATH_MAX, "%.*s%s/%s", (int)dir.n, dir.s,
		     is_behind(dir) ? "" : "/.." LIBEXEC, name);
	return r < 0 || r >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int hb_exec_helper(const char *name, char *const argv[], char *const envp[],
		   struct hb_error *err)
{
	char path[PATH_MAX];
	int r = place_helper(name, path);

	if (r == -ENAMETOOLONG)
		return hb_fail(err, r, "cannot name the program's other parts");
	if (r < 0) {
		hb_fix(err, "mount a procfs at /proc");
		return hb_fail(err, r, "cannot tell where this program lies");
	}
	r = sys_execve(path, argv, envp);
	hb_fix(err, "install holdback whole: bin/ and libexec/");
	return hb_fail(err, r, "cannot execute '%s'", path);
}

int hb_run_helper(const char *name, char *const argv[], char *const envp[],
		  int *ret_status, struct hb_error *err)
{
	pid_t pid = sys_clone(0, NULL);
	int r;

	if (pid == 0) {
		(void)hb_exec_helper(name, argv, envp, NULL);
		sys_exit(CANNOT_EXECUTE);
	}
	if (pid < 0)
		return hb_fail(err, pid, "cannot start a process");
	r = sys_waitpid(pid, ret_status, 0);
	return r < 0 ? hb_fail(err, r, "cannot wait for a process") : 0;
}

int hb_fill_stdio(struct hb_error *err)
{
	for (int i = 0; i < 3; i++) {
		int fd;

		if (sys_fd_is_open(i))
			continue;
		/* The lowest free number is the missing one. */
		fd = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
		if (fd < 0)
			return hb_fail(err, fd, "cannot open '/dev/null'");
		(void)sys_set_cloexec(fd, 0);
	}
	return 0;
}

void hb_die_of(const struct hb_death *death)
{
	if (death->signal == 0 || sys_set_dumpable(0) < 0)
		return;
	if (death->is_typed)
		(void)sys_kill(0, death->signal);
	(void)sys_raise_default(death->signal);
}

int hb_write_to(int fd, const void *bytes, size_t n, struct hb_error *err)
{
	struct sys_signal signal;
	auto_fd int pending = -1;
	sigset_t set, old;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	r = sys_block_signals(&set, &old);
	if (r < 0)
		return hb_fail(err, r, "cannot block a signal");
	r = n > 0 ? sys_write_all(fd, bytes, n)
		  : (int)sys_write_some(fd, "", 0);
	pending = r == -EPIPE ? sys_signalfd(&set) : -1;
	while (pending >= 0 && sys_signalfd_next(pending, &signal) == 1)
		;
	(void)sys_restore_signals(&old);
	return r < 0 ? hb_fail(err, r, "cannot write to descriptor %d", fd) : 0;
}

int hb_notify(char *const *envp, const char *text, struct hb_error *err)
{
	const char *name = env_get(envp, "NOTIFY_SOCKET");
	int r;

	if (!name || !name[0])
		return 0;
	r = name[0] == '/' || name[0] == '@'
		    ? sys_send_to(name, text, strlen(text))
		    : -EINVAL;
	return r < 0 ? hb_fail(err, r,
			       "cannot tell the service manager at '%s'",
			       quoted(name))
		     : 1;
}

int hb_work_in(const char *dir, int *ret_back, struct hb_error *err)
{
	auto_fd int back = -1;
	int r;

	if (!dir) {
		*ret_back = -1;
		return 0;
	}
	/* A working directory that was removed is no reason to stay there. */
	back = sys_openat(AT_FDCWD, ".", O_PATH | O_DIRECTORY, 0);
	r = sys_chdir(dir);
	if (r == -ENOENT || r == -ENOTDIR)
		return hb_fail(err, -HB_E_USAGE,
			       "there is no directory '%s' to work in",
			       quoted(dir));
	if (r < 0)
		return hb_fail(err, r, "cannot work in the directory '%s'",
			       quoted(dir));
	*ret_back = take_fd(&back);
	return 0;
}

void hb_work_back(int back)
{
	if (back < 0)
		return;
	(void)sys_fchdir(back);
	sys_close(back);
}

bool hb_is_terminal(int fd)
{
	return sys_isatty(fd);
}
