/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/*
 * What a command that shows much needs: a pager behind its stdout, the width of
 * the terminal, and the user's own settings.
 */

#define SHELL	       "/bin/sh"
#define CANNOT_EXECUTE 127

unsigned hb_terminal_columns(int fd)
{
	return sys_tty_columns(fd);
}

/* In the child: nothing here allocates, and it has nobody to report to. */
static void become_pager(int input, char *const argv[], char *const *envp)
{
	if (sys_dup_to(input, STDIN_FILENO) >= 0)
		(void)sys_execve(SHELL, argv, envp);
	sys_exit(CANNOT_EXECUTE);
}

/*
 * As long as the pager runs, the terminal's keys are for it.  Blocked and not
 * ignored: who reads what we wrote may be gone, and then the write says so.
 */
static int leave_keys_alone(void)
{
	sigset_t set, old;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGQUIT);
	return sys_block_signals(&set, &old);
}

int hb_pager_start(const char *command, char *const *envp, int *ret_pid,
		   struct hb_error *err)
{
	static char shell[] = SHELL, option[] = "-c";
	union {
		const char *in;
		char *out; /* exec wants char *, and does not write */
	} word = { command };
	char *argv[] = { shell, option, word.out, NULL };
	auto_fd int input = -1;
	auto_fd int output = -1;
	int fds[2], r;
	pid_t pid;

	r = sys_pipe(fds);
	if (r < 0)
		return hb_fail(err, r, "cannot start the pager");
	input = fds[0];
	output = fds[1];
	pid = sys_clone(0, NULL);
	if (pid == 0)
		become_pager(input, argv, envp);
	if (pid < 0)
		return hb_fail(err, pid, "cannot start the pager");
	r = sys_dup_to(output, STDOUT_FILENO);
	if (r >= 0)
		r = leave_keys_alone();
	if (r < 0) {
		sys_kill_and_reap(pid);
		return hb_fail(err, r, "cannot start the pager");
	}
	*ret_pid = pid;
	return 0;
}

void hb_pager_end(int pid)
{
	int status;

	sys_close(STDOUT_FILENO);
	(void)sys_waitpid(pid, &status, 0);
}

int hb_read_own_file(const char *path, size_t max, char **ret_text,
		     size_t *ret_n, struct hb_error *err)
{
	auto_free char *text = NULL;
	auto_fd int fd = -1;
	struct stat st;
	ssize_t n;
	int r;

	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'", path);
	r = sys_fstat(fd, &st);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", path);
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > max)
		return hb_fail(err, -EINVAL, "'%s' is no file, or is too large",
			       path);
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read '%s'", path);
	n = sys_pread_full(fd, text, (size_t)st.st_size, 0);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read '%s'", path);
	text[n] = '\0';
	*ret_n = (size_t)n;
	*ret_text = take_ptr(&text);
	return 0;
}
