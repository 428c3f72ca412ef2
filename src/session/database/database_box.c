/* SPDX-License-Identifier: Apache-2.0 */
#include "session/database/database_box.h"

#include "base/auto.h"
#include "base/error.h"
#include "host/self.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER	"db"
#define BOX	"bwrap"
#define INSIDE	"/db"
#define FAILED	20 /* DB_FAILED of src/db/db.h */
#define SIGNALS 128
#define FROM_FD 3
#define WORDS	400

static const struct database_process none = { -1, -1, -1, -1 };

static void read_words(int fd, char *ret, size_t size)
{
	ssize_t n = sys_pread_full(fd, ret, size - 1, 0);

	ret[n > 0 ? n : 0] = '\0';
	for (char *c = ret; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = c[1] ? '?' : '\0';
}

/* In the new process. */
static _Noreturn void become(const int fds[3], int dir, int from,
			     const char *path, char *const argv[], pid_t parent)
{
	char *env[] = { NULL };
	int moved[3], r = 0;

	for (int i = 0; i < 3; i++)
		moved[i] = sys_dup_above(fds[i], 2 * FROM_FD);
	from = from < 0 ? from : sys_dup_above(from, 2 * FROM_FD);
	if (sys_set_parent_death_signal(SIGKILL) < 0 || sys_getppid() != parent)
		r = -1;
	if (r >= 0 && dir >= 0)
		r = sys_fchdir(dir);
	for (int i = 0; r >= 0 && i < 3; i++)
		r = moved[i] < 0 ? moved[i] : sys_dup_to(moved[i], i);
	if (r >= 0 && from >= 0)
		r = sys_dup_to(from, FROM_FD);
	if (r >= 0)
		r = sys_close_range(FROM_FD + (from >= 0), ~0U);
	if (r >= 0)
		(void)sys_execve(path, argv, env);
	sys_exit(FAILED + SIGNALS);
}

static int run_box(char *const argv[], const char *path, const int fds[3],
		   struct hb_error *err)
{
	const pid_t parent = sys_getpid();
	pid_t pid = sys_clone(0, NULL);
	int status = 0, r;

	if (pid == 0)
		become(fds, -1, -1, path, argv, parent);
	r = pid < 0 ? pid : sys_waitpid(pid, &status, 0);
	if (r < 0)
		return hb_fail(err, r,
			       "cannot start the program for databases");
	return WIFSIGNALED(status) ? SIGNALS + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

/* Libraries are where the host has them. */
#define ARGS_MAX 40
static char shown[][24] = {
	"/usr", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache", "/nix",
};

static void fill_args(char *argv[ARGS_MAX], char *helper, char *dir,
		      char *command)
{
	static char box[] = BOX, all[] = "--unshare-all",
		    die[] = "--die-with-parent", new[] = "--new-session",
		    try[] = "--ro-bind-try", ro[] = "--ro-bind",
		    rw[] = "--bind", to[] = INSIDE, in[] = INSIDE "/in",
		    tmp[] = "--tmpfs", at[] = "--chdir", prog[] = INSIDE "/db";
	char *const first[] = { box, all, die, new, tmp, to };
	char *const rest[] = { ro, helper, prog, rw,	  dir, in,
			       at, in,	   prog, command, NULL };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		argv[n++] = first[i];
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		argv[n++] = try;
		argv[n++] = shown[i];
		argv[n++] = shown[i];
	}
	memcpy(argv + n, rest, sizeof(rest));
}

static int fail_box(int status, int words, struct hb_error *err)
{
	char text[WORDS];

	read_words(words, text, sizeof(text));
	if (status == FAILED)
		return hb_fail(err, -HB_E_STATE, "%s", text);
	if (status > SIGNALS)
		return hb_fail(err, -HB_E_STATE,
			       "the program that reads the database ended by "
			       "signal %d",
			       status - SIGNALS);
	hb_fix(err, "holdback doctor");
	return hb_fail(err, -HB_E_UNSUPPORTED,
		       "no box for the database can be made: %s", text);
}

int database_box_run(const char *command, int dir, char *out, size_t size,
		     struct hb_error *err)
{
	char helper[PATH_MAX], box[PATH_MAX], path[PATH_MAX], word[16];
	auto_fd int null = sys_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0);
	auto_fd int answer = sys_memory_file();
	auto_fd int words = sys_memory_file();
	const int fds[3] = { null, answer, words };
	char *argv[ARGS_MAX];
	ssize_t n;
	int r;

	r = null < 0 ? null : answer < 0 ? answer : words < 0 ? words : 0;
	if (r >= 0)
		r = place_helper(HELPER, helper);
	if (r >= 0)
		r = place_helper(BOX, box);
	if (r >= 0)
		r = (int)sys_fd_path(dir, path, sizeof(path));
	if (r < 0)
		return hb_fail(err, r,
			       "cannot start the program for databases");
	(void)snprintf(word, sizeof(word), "%s", command);
	fill_args(argv, helper, path, word);
	r = run_box(argv, box, fds, err);
	if (r != 0)
		return r < 0 ? r : fail_box(r, words, err);
	if (!out)
		return 0;
	n = sys_pread_full(answer, out, size - 1, 0);
	out[n > 0 ? n : 0] = '\0';
	return n < 0 ? hb_fail(err, (int)n, "cannot read the answer") : 0;
}

int database_process_start(struct database_process *p, int dir, int from,
			   char *const argv[], struct hb_error *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	const pid_t parent = sys_getpid();
	char path[PATH_MAX];
	int r;

	*p = none;
	r = place_helper(HELPER, path);
	if (r >= 0)
		r = sys_pipe(in);
	if (r >= 0)
		r = sys_pipe(out);
	p->words = sys_memory_file();
	if (r >= 0 && p->words >= 0)
		p->pid = sys_clone(0, NULL);
	if (p->pid == 0)
		become((const int[]){ in[0], out[1], p->words }, dir, from,
		       path, argv, parent);
	fd_closep(&in[0]);
	fd_closep(&out[1]);
	p->in = in[1];
	p->out = out[0];
	if (p->pid > 0)
		return 0;
	r = r < 0 ? r : p->words < 0 ? p->words : (int)p->pid;
	database_process_end(p);
	return hb_fail(err, r, "cannot start the program for databases");
}

void database_process_end(struct database_process *p)
{
	fd_closep(&p->in);
	fd_closep(&p->out);
	fd_closep(&p->words);
	if (p->pid > 0)
		(void)sys_waitpid(p->pid, NULL, 0);
	*p = none;
}

void database_process_words(const struct database_process *p, char *ret,
			    size_t size)
{
	read_words(p->words, ret, size);
}
