/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "plan/settings.h"
#include "run/ending.h"
#include "run/later.h"
#include "run/launch.h"
#include "session/fork/fork.h"
#include "session/remove/gc.h"
#include "session/session.h"
#include "session/state.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The check command is a test suite, which runs code that the session holds
 * back.  It runs in a box, on a fork, so that neither the host nor the session
 * sees its effects.  A process of its own has its output in front of a pipe of
 * ours, of which the end is kept.
 */

/* What is neither the command's status nor a signal's. */
#define NOT_RUN 255

/* Of the fork: a name that no other session has. */
#define NAME_SIZE 64

struct asked {
	const char *command; /* for a shell; or NULL: */
	char *const *argv;
	bool is_offline; /* also if the session has the network */
};

/* In the process of its own; does not return. */
static _Noreturn void run_launch(struct launch *l, struct hb_store *store,
				 const char *fork)
{
	struct hb_error err = { 0 };
	char text[HB_TEXT_SIZE];
	int r;

	l->is_exec = true;
	r = hb_session_open(store, fork, HB_OPEN_CHANGE, &l->session, &err);
	if (r >= 0)
		r = launch(l, &err);
	if (r < 0) {
		hb_error_format(&err, text, sizeof(text));
		(void)sys_write_all(STDERR_FILENO, text, strlen(text));
		sys_exit(NOT_RUN);
	}
	sys_exit(ending_status(&l->box));
}

/* Likewise. */
static _Noreturn void run(const struct hb_session *s, struct hb_store *store,
			  const char *fork, const struct asked *asked, int out,
			  pid_t parent)
{
	const struct hb_setting offline = { .key = setting_name(KEY_NET),
					    .value = key_nets[NET_NONE] };
	char sh[] = "sh", c[] = "-c";
	auto_free char *copy = asked->command ? strdup(asked->command) : NULL;
	char *by_shell[] = { sh, c, copy, NULL };
	const struct hb_run_options options = {
		.argv = asked->command ? by_shell : asked->argv,
		.envp = store->envp,
		.settings = &offline,
		.n_settings = asked->is_offline,
	};
	struct launch *l = launch_new(&options);
	int null;

	/* A supervisor that dies takes its box along. */
	if (sys_set_parent_death_signal(SIGKILL) < 0 || sys_getppid() != parent)
		sys_exit(NOT_RUN);
	null = sys_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0);
	if (null < 0 || (asked->command && !copy) ||
	    sys_dup_to(null, STDIN_FILENO) < 0 ||
	    sys_dup_to(out, STDOUT_FILENO) < 0 ||
	    sys_dup_to(out, STDERR_FILENO) < 0)
		sys_exit(NOT_RUN);
	sys_close(out);
	(void)sys_chdir(s->record.resources[0].source);
	if (l)
		run_launch(l, store, fork);
	sys_exit(NOT_RUN);
}

/* Keeps the end of the output, until the last writer is gone. */
static void read_tail(int fd, struct hb_gate_check *check)
{
	char *out = check->output;
	size_t n = 0, max = sizeof(check->output) - 1;
	char block[4096];
	ssize_t got;

	while ((got = sys_read(fd, block, sizeof(block))) > 0) {
		size_t add = (size_t)got < max ? (size_t)got : max;
		size_t keep = n + add > max ? max - add : n;

		memmove(out, out + n - keep, keep);
		memcpy(out + keep, block + got - add, add);
		n = keep + add;
	}
	for (size_t i = 0; i < n; i++)
		if (!out[i])
			out[i] = '?';
	out[n] = '\0';
}

static int run_on(struct hb_session *s, struct hb_store *store,
		  const char *fork, const struct asked *asked,
		  struct hb_gate_check *check, struct hb_error *err)
{
	auto_fd int in = -1;
	auto_fd int out = -1;
	const pid_t parent = sys_getpid();
	int fds[2], status = 0;
	pid_t pid;
	int r;

	r = sys_pipe(fds);
	if (r < 0)
		return hb_fail(err, r, "cannot make a pipe");
	in = fds[0];
	out = fds[1];
	pid = sys_clone(0, NULL);
	if (pid < 0)
		return hb_fail(err, pid, "cannot make a process");
	if (pid == 0) {
		fd_closep(&in);
		run(s, store, fork, asked, take_fd(&out), parent);
	}
	fd_closep(&out);
	read_tail(in, check);
	r = sys_waitpid(pid, &status, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot wait for the check command");
	check->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					    : WEXITSTATUS(status);
	if (check->status == NOT_RUN)
		check->status = -1;
	return 0;
}

static int remove_fork(struct hb_store *store, const char *fork,
		       struct hb_error *err)
{
	struct hb_session *session = NULL;
	int r;

	r = hb_session_open(store, fork, HB_OPEN_CHANGE, &session, err);
	if (r >= 0)
		r = hb_session_cleanup(session, err);
	hb_session_free(session);
	return r;
}

static int check_on_fork(struct hb_session *s, const char *command,
			 struct hb_gate_check *check, struct hb_error *err)
{
	const struct asked asked = { .command = command };
	struct hb_store store = *s->store;
	char fork[NAME_SIZE];
	int r, gone;

	(void)snprintf(fork, sizeof(fork), "gate-%s-%ld", s->record.id,
		       (long)sys_getpid());
	gc_remove_checks(s);
	r = session_fork_for_check(s, fork, err);
	if (r < 0)
		return hb_fail(err, r, "cannot fork the session for a check");
	check->was_run = true;
	r = run_on(s, &store, fork, &asked, check, err);
	gone = remove_fork(&store, fork, r < 0 ? NULL : err);
	return r < 0 ? r : gone;
}

int hb_session_gate_check(struct hb_session *session, const char *command,
			  struct hb_gate_check *ret_check, struct hb_error *err)
{
	struct settings settings;
	int r = 0;

	*ret_check = (struct hb_gate_check){ 0 };
	settings_init(&settings);
	if (!command)
		r = later_text(session, KEY_GATE_RUN, &settings, &command, err);
	if (r >= 0 && command)
		r = session_needs_lock(session, err);
	if (r >= 0 && command)
		r = check_on_fork(session, command, ret_check, err);
	settings_done(&settings);
	return r;
}

int hb_session_run_aside(struct hb_session *session, const char *aside,
			 char *const *argv, struct hb_gate_check *ret_check,
			 struct hb_error *err)
{
	const struct asked asked = { .argv = argv, .is_offline = true };
	struct hb_store store = *session->store;

	/* Its output is the command's alone. */
	store.listener = NULL;
	*ret_check = (struct hb_gate_check){ .was_run = true };
	return run_on(session, &store, aside, &asked, ret_check, err);
}
