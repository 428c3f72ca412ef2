/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "term/keys_lent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* The user's editor on a text of ours. */

#define SHELL	       "/bin/sh"
#define CANNOT_EXECUTE 127
#define TEXT_MAX       ((size_t)64 << 20)
#define TRIES	       100

/* A variable that is set and empty counts as not set. */
static const char *variable(char *const *envp, const char *name)
{
	const char *value = env_get(envp, name);

	return value && value[0] ? value : NULL;
}

/* Its own name is all that a file in a directory of all users can have. */
static int make_file(const char *dir, char *path, size_t size)
{
	for (int i = 0; i < TRIES; i++) {
		int fd;

		(void)snprintf(path, size, "%s/holdback-commit.%ld.%d", dir,
			       (long)sys_getpid(), i);
		fd = sys_openat(AT_FDCWD, path,
				O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
		if (fd != -EEXIST)
			return fd;
	}
	return -EEXIST;
}

/* Until the editor ends, the keys of the terminal are for it alone. */
static int run_editor(const char *editor, char *path, char *const *envp)
{
	static char shell[] = SHELL, option[] = "-c";
	char command[PATH_MAX];
	char *argv[] = { shell, option, command, shell, path, NULL };
	struct keys_lent keys;
	int status = 0, r;
	pid_t pid;

	r = snprintf(command, sizeof(command), "%s \"$@\"", editor);
	if (r < 0 || (size_t)r >= sizeof(command))
		return -ENAMETOOLONG;
	pid = sys_clone(0, NULL);
	if (pid == 0) {
		(void)sys_execve(SHELL, argv, envp);
		sys_exit(CANNOT_EXECUTE);
	}
	if (pid < 0)
		return pid;
	r = keys_lend(&keys);
	if (r >= 0) {
		r = sys_waitpid(pid, &status, 0);
		keys_return(&keys);
	}
	if (r < 0)
		return r;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECANCELED;
}

int hb_edit_text(const char *text, size_t n, char *const *envp, char **ret_text,
		 struct hb_error *err)
{
	const char *editor = variable(envp, "VISUAL");
	const char *dir = variable(envp, "TMPDIR");
	char path[PATH_MAX];
	auto_fd int fd = -1;
	size_t length;
	int r;

	if (!editor)
		editor = variable(envp, "EDITOR");
	if (!editor)
		editor = "vi";
	fd = make_file(dir ? dir : "/tmp", path, sizeof(path));
	if (fd < 0)
		return hb_fail(err, fd, "cannot make '%s'", path);
	r = sys_write_all(fd, text, n);
	if (r < 0)
		r = hb_fail(err, r, "cannot write '%s'", path);
	if (r >= 0) {
		r = run_editor(editor, path, envp);
		if (r < 0)
			hb_fix(err, "set EDITOR to an editor that works");
		if (r < 0)
			r = hb_fail(err, -HB_E_STATE,
				    "the editor '%.200s' failed", editor);
	}
	if (r >= 0)
		r = hb_read_own_file(path, TEXT_MAX, ret_text, &length, err);
	(void)sys_unlinkat(AT_FDCWD, path, 0);
	return r;
}
