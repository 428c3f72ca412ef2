/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/program.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/quote.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_READ     ((size_t)64 << 10)
#define LINE_SHOWN   ((size_t)200)
#define VERSION_SIZE 128
#define CANNOT_START 127

/* Where distributions put the programs of each version. */
static const char *const places[] = {
	"/usr/lib/postgresql/%d/bin",
	"/usr/pgsql-%d/bin",
	"/usr/lib/postgresql%d/bin",
};

static const struct {
	const char *name, *package;
} needed[] = {
	{ "postgres", "postgresql" },
	{ "initdb", "postgresql" },
	{ "pg_dump", "postgresql-client" },
	{ "pg_restore", "postgresql-client" },
};

static bool has_program(const char *dir, const char *name)
{
	char path[PROGRAM_DIR_SIZE + 32];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return sys_faccessat(AT_FDCWD, path, X_OK) >= 0;
}

/* The major version that `postgres --version` of the directory tells; 0. */
static int version_of(const char *dir, char *const *envp)
{
	static const char words[] = "(PostgreSQL) ";
	char path[PROGRAM_DIR_SIZE + 32], text[VERSION_SIZE] = { 0 };
	char name[] = "postgres", option[] = "--version";
	char *argv[] = { name, option, NULL };
	const char *found;
	int fds[2], status;
	pid_t pid;

	if (sys_pipe(fds) < 0)
		return 0;
	(void)snprintf(path, sizeof(path), "%s/postgres", dir);
	pid = sys_clone(0, NULL);
	if (pid == 0) {
		(void)sys_dup_to(fds[1], 1);
		(void)sys_execve(path, argv, envp);
		sys_exit(CANNOT_START);
	}
	sys_close(fds[1]);
	(void)sys_read_full(fds[0], text, sizeof(text) - 1);
	sys_close(fds[0]);
	if (pid < 0 || sys_waitpid(pid, &status, 0) < 0)
		return 0;
	found = strstr(text, words);
	return found ? (int)strtol(found + sizeof(words) - 1, NULL, 10) : 0;
}

/* One of PATH that has the server of this version. */
static bool find_in_path(int major, char *const *envp, char *ret)
{
	const char *at = env_get(envp, "PATH");

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (n > 0 && n < PROGRAM_DIR_SIZE && at[0] == '/') {
			(void)snprintf(ret, PROGRAM_DIR_SIZE, "%.*s", (int)n,
				       at);
			if (has_program(ret, "postgres") &&
			    has_program(ret, "initdb") &&
			    version_of(ret, envp) == major)
				return true;
		}
		at += n + (at[n] == ':');
	}
	return false;
}

static bool find_place(int major, char *const *envp, char *ret)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		(void)snprintf(ret, PROGRAM_DIR_SIZE, places[i], major);
#pragma GCC diagnostic pop
		if (has_program(ret, "postgres"))
			return true;
	}
	return find_in_path(major, envp, ret);
}

int program_find(int major, char *const *envp, char ret_dir[PROGRAM_DIR_SIZE],
		 struct hb_error *err)
{
	bool is_found = find_place(major, envp, ret_dir);

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (is_found && has_program(ret_dir, needed[i].name))
			continue;
		hb_fix(err, "apt install %s-%d", needed[i].package, major);
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "the server is PostgreSQL %d, and '%s' of this "
			       "version is not installed",
			       major, needed[i].name);
	}
	return 0;
}

_Noreturn static void execute(const struct program *p, int log)
{
	char path[PROGRAM_DIR_SIZE + 32];
	char *argv[PROGRAM_ARGUMENTS + 2] = { path };
	int null = sys_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0);

	for (size_t i = 0; p->arguments[i] && i < PROGRAM_ARGUMENTS; i++)
		argv[i + 1] = (char *)(uintptr_t)p->arguments[i];
	(void)snprintf(path, sizeof(path), "%s/%s", p->dir, p->name);
	if (p->is_apart)
		(void)sys_setsid();
	if (null < 0 || sys_dup_to(null, 0) < 0 || sys_dup_to(log, 1) < 0 ||
	    sys_dup_to(log, 2) < 0)
		sys_exit(CANNOT_START);
	(void)sys_execve(path, argv, p->envp);
	sys_exit(CANNOT_START);
}

int program_start(const struct program *p, struct hb_error *err)
{
	auto_fd int log = sys_openat(
		p->dir_fd, p->log,
		O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0600);
	pid_t pid;

	if (log < 0)
		return hb_fail(err, log, "cannot write '%s'", p->log);
	pid = sys_clone(0, NULL);
	if (pid == 0)
		execute(p, log);
	return pid < 0 ? hb_fail(err, pid, "cannot start '%s'", p->name) : pid;
}

/* Where in the line its words of an error begin; NULL: it has none. */
static const char *find_error(const char *line)
{
	static const char *const words[] = { "FATAL:", "PANIC:", "ERROR:",
					     "error:" };
	const char *found;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		found = strstr(line, words[i]);
		if (found)
			return found + strlen(words[i]) +
			       strspn(found + strlen(words[i]), " ");
	}
	return NULL;
}

int program_fail(const struct program *p, int r, struct hb_error *err)
{
	auto_free char *text = calloc(1, LOG_READ + 1);
	char *line, *rest = NULL;
	const char *last = NULL, *found = NULL;
	char shown[LINE_SHOWN];

	if (text)
		(void)sys_read_file_at(p->dir_fd, p->log, text, LOG_READ);
	if (text && strstr(text, strerror(ENOSPC)))
		r = -ENOSPC;
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &rest)) {
		found = find_error(line);
		last = line;
	}
	if (found || last)
		return hb_fail(err, r, "%s: %s", p->name,
			       quote_shown(found ? found : last, shown,
					   sizeof(shown)));
	return hb_fail(err, r, "%s failed without a word", p->name);
}

int program_run(const struct program *p, struct hb_error *err)
{
	pid_t pid = program_start(p, err);
	int status, r;

	if (pid < 0)
		return pid;
	r = (int)sys_waitpid(pid, &status, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot wait for '%s'", p->name);
	return status == 0 ? 0 : program_fail(p, -HB_E_STATE, err);
}
