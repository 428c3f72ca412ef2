/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "term/keys_lent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
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

/* In the child: nothing here allocates, and no process reads a report. */
static void become_pager(int input, char *const argv[], char *const *envp)
{
	if (sys_dup_to(input, STDIN_FILENO) >= 0)
		(void)sys_execve(SHELL, argv, envp);
	sys_exit(CANNOT_EXECUTE);
}

/*
 * What was written and not yet taken lies in the spool from `at` to `end`; all
 * that comes later goes behind it.
 */
struct hb_pager {
	pid_t pid;
	int spool; /* -1: none, and writing waits */
	int out;   /* the stdout of before; -1: none, and it stays closed */
	struct keys_lent keys;
	uint64_t at, end;
};

static int start(const char *command, char *const *envp, struct hb_pager *pager)
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
		return r;
	input = fds[0];
	output = fds[1];
	pid = sys_clone(0, NULL);
	if (pid == 0)
		become_pager(input, argv, envp);
	if (pid < 0)
		return pid;
	pager->out = sys_dup_above(STDOUT_FILENO, STDERR_FILENO + 1);
	r = sys_dup_to(output, STDOUT_FILENO);
	if (r >= 0)
		r = keys_lend(&pager->keys);
	if (r < 0) {
		fd_closep(&pager->out);
		sys_kill_and_reap(pid);
		return r;
	}
	pager->pid = pid;
	return 0;
}

int hb_pager_start(int spool_dir, const char *command, char *const *envp,
		   struct hb_pager **ret_pager, struct hb_error *err)
{
	struct hb_pager *pager = calloc(1, sizeof(*pager));
	int r = pager ? start(command, envp, pager) : -ENOMEM;

	if (r < 0) {
		free(pager);
		return hb_fail(err, r, "cannot start the pager");
	}
	/* After the child, which needs none of it. */
	pager->spool = sys_unnamed_file(spool_dir);
	*ret_pager = pager;
	return 0;
}

/* Of a pipe: as many as PIPE_BUF bytes are taken at once. */
static bool can_take(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return sys_poll(&out, 1, 0) > 0;
}

/* From the spool: all of it, or with `waits` false what is taken at once. */
static int feed(struct hb_pager *pager, bool waits)
{
	char bytes[PIPE_BUF];

	while (pager->at < pager->end && (waits || can_take())) {
		uint64_t left = pager->end - pager->at;
		ssize_t n = sys_pread_full(pager->spool, bytes,
					   left < sizeof(bytes) ? (size_t)left
								: sizeof(bytes),
					   pager->at);
		int r = n > 0 ? sys_write_all(STDOUT_FILENO, bytes, (size_t)n)
			      : (int)n;

		if (r < 0 || n == 0)
			return r < 0 ? r : -EIO;
		pager->at += (uint64_t)n;
	}
	if (pager->at == pager->end)
		pager->at = pager->end = 0;
	return 0;
}

int hb_pager_write(struct hb_pager *pager, const void *bytes, size_t n,
		   struct hb_error *err)
{
	const char *p = bytes;
	int r = feed(pager, false);

	while (r >= 0 && n > 0 && pager->end == 0 && can_take()) {
		size_t piece = n < PIPE_BUF ? n : PIPE_BUF;

		r = sys_write_all(STDOUT_FILENO, p, piece);
		p += piece;
		n -= piece;
	}
	if (r >= 0 && n > 0 && pager->spool >= 0 &&
	    sys_pwrite_all(pager->spool, p, n, pager->end) >= 0) {
		pager->end += n;
		n = 0;
	}
	if (r >= 0 && n > 0) {
		r = feed(pager, true);
		if (r >= 0)
			r = sys_write_all(STDOUT_FILENO, p, n);
	}
	return r < 0 ? hb_fail(err, r, "cannot write to the pager") : 0;
}

void hb_pager_end(struct hb_pager *pager)
{
	int status;

	if (!pager)
		return;
	/* Who leaves before the end has seen enough. */
	(void)feed(pager, true);
	sys_close(STDOUT_FILENO);
	(void)sys_waitpid(pager->pid, &status, 0);
	if (pager->out >= 0)
		(void)sys_dup_to(pager->out, STDOUT_FILENO);
	keys_return(&pager->keys);
	fd_closep(&pager->out);
	fd_closep(&pager->spool);
	free(pager);
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
