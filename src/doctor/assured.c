/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/assured.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "holdback/session.h"
#include "host/look.h"
#include "plan/profile.h"
#include "plan/settings.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A process of its own makes a run of this very program.  That tries things
 * inside and tells the result by its status.  Its files are looked at from
 * outside.  Order: the workspace is made, the run ends, then it is compared.
 */

#define WORKSPACE "workspace"
#define STORE	  "store"
#define TEXT	  "as it was\n"

/* What the program inside says: this, and what should not have worked. */
#define RAN 64

enum bad {
	BAD_NET = 1 << 0,
	BAD_PROC = 1 << 1,
	BAD_TERMINAL = 1 << 2,
	BAD_FILTER = 1 << 3,
	BAD_WORKSPACE = 1 << 4,
	BAD_TMP = 1 << 5,
	BAD_PARENT = 1 << 6,
};

/* How long a run may take that has nothing to do. */
#define PATIENCE_MS 30000

static const struct {
	unsigned bit;
	bool is_choice; /* a setting can ask for it */
	const char *name, *used_for, *found, *lost, *fix;
} rows[] = {
	{ BAD_NET, true, "no-network", "a run that reaches no network",
	  "a run reaches the host's network",
	  "a command can send its files anywhere, and talk to services of this machine",
	  "net = none; 'holdback config' says which line set it" },
	{ BAD_PARENT, false, "ends-with-us",
	  "a run that ends when holdback is killed",
	  "the command was still there after holdback was killed",
	  "commands can outlive their session", "" },
	{ BAD_WORKSPACE, true, "workspace-held",
	  "writes that do not reach the real files",
	  "its changes are in the real directory",
	  "there is nothing to review, commit or undo",
	  "direct = no; 'holdback config' says which line set it" },
	{ BAD_TMP, true, "private-tmp", "a private /tmp",
	  "a file made in /tmp is in the host's",
	  "sockets and files of other programs are in reach",
	  "leave out 'rw = /tmp'; 'holdback config' says which line set it" },
	{ BAD_PROC, false, "own-proc", "a /proc, which many tools need",
	  "there is none inside", "ps, compilers and runtimes fail", "" },
	{ BAD_TERMINAL, false, "closed-terminal",
	  "a terminal that nothing can be typed into",
	  "input could be put into the terminal",
	  "a command can type into the shell that started it", "" },
	{ BAD_FILTER, false, "filter-in-force",
	  "a filter for system calls that is in force",
	  "a call that it refuses was let through",
	  "calls around the view are open", "" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* What a run's process tells. */
struct outcome {
	int status; /* of the program inside; less than 0: of the run */
	struct hb_error error;
};

struct trial {
	const char *dir;
	char *const *envp;
	const char *profile; /* NULL: the general one */
	char word[16];	     /* for the program inside */
};

int hb_doctor_inside(const char *port)
{
	char name[64];
	int status = RAN;
	long n = strtol(port, NULL, 10);

	if (sys_tcp_reach((int)n) >= 0)
		status |= BAD_NET;
	if (sys_faccessat(AT_FDCWD, "/proc/self/status", R_OK) < 0)
		status |= BAD_PROC;
	if (sys_tty_type(-1, ' ') != -EPERM)
		status |= BAD_TERMINAL;
	if (sys_new_session_keyring() != -EPERM)
		status |= BAD_FILTER;
	(void)sys_write_file_at(AT_FDCWD, "f", "changed\n");
	(void)snprintf(name, sizeof(name), "/tmp/holdback-doctor.%ld", n);
	(void)sys_make_file_at(AT_FDCWD, name, 0600);
	return status;
}

static void run(const struct trial *t, struct outcome *ret)
{
	static char doctor[] = "doctor", inside[] = "--inside";
	char self[PATH_MAX], store[PATH_MAX], word[sizeof(t->word)];
	char *argv[] = { self, doctor, inside, word, NULL };
	const struct hb_setting settings[] = {
		{ "quiet", "yes" },
		{ "ro", self },
		{ "profile", t->profile ? t->profile : PROFILE_GENERIC },
	};
	const struct hb_store_options place = { .dir = store, .envp = t->envp };
	const struct hb_run_options options = {
		.argv = argv,
		.envp = t->envp,
		.settings = settings,
		.n_settings = sizeof(settings) / sizeof(settings[0]),
		.store = &place,
	};
	struct hb_run_result result = { 0 };
	int r;

	memcpy(word, t->word, sizeof(word));
	(void)snprintf(store, sizeof(store), "%.4000s/" STORE, t->dir);
	r = (int)sys_readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof(self));
	if (r >= 0)
		r = hb_run(&options, &result, &ret->error);
	ret->status = r < 0 ? r : result.status;
}

/* `out` becomes stdout; nothing else of ours is given to the run. */
_Noreturn static void run_and_tell(const struct trial *t, int out, int to)
{
	auto_fd int null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
	struct outcome outcome = { .status = -EIO };
	char place[PATH_MAX];

	(void)snprintf(place, sizeof(place), "%.4000s/" WORKSPACE, t->dir);
	if (null >= 0 && sys_chdir(place) >= 0) {
		(void)sys_dup_to(null, 0);
		(void)sys_dup_to(out >= 0 ? out : null, 1);
		(void)sys_dup_to(null, 2);
		run(t, &outcome);
	}
	(void)sys_send_record(to, &outcome, sizeof(outcome));
	sys_exit(0);
}

static int make_workspace(const char *dir)
{
	auto_fd int at = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
	auto_fd int file = -1;
	int r;

	r = at < 0 ? at : sys_mkdirat(at, WORKSPACE, 0700);
	if (r < 0 && r != -EEXIST)
		return r;
	file = sys_openat(at, WORKSPACE "/f", O_WRONLY | O_CREAT | O_TRUNC,
			  0600);
	return file < 0 ? file : sys_write_all(file, TEXT, sizeof(TEXT) - 1);
}

/* What the program inside cannot tell. */
static unsigned look_outside(const char *dir, int port)
{
	char path[PATH_MAX], text[64] = "";
	unsigned bad = 0;

	(void)snprintf(path, sizeof(path), "%.4000s/" WORKSPACE "/f", dir);
	if (sys_read_file_at(AT_FDCWD, path, text, sizeof(text)) < 0 ||
	    strcmp(text, TEXT) != 0)
		bad |= BAD_WORKSPACE;
	(void)snprintf(path, sizeof(path), "/tmp/holdback-doctor.%d", port);
	if (sys_unlinkat(AT_FDCWD, path, 0) >= 0)
		bad |= BAD_TMP;
	return bad;
}

static int try_inside(struct trial *t, unsigned *ret_bad, struct hb_error *err)
{
	struct outcome outcome = { 0 };
	auto_fd int listener = -1;
	auto_fd int from = -1;
	auto_fd int to = -1;
	int port = 0, r;
	pid_t pid;

	listener = sys_tcp_listen(&port);
	r = listener < 0 ? listener : make_workspace(t->dir);
	if (r >= 0)
		r = sys_socket_pair(&from, &to);
	if (r < 0)
		return hb_fail(err, r, "cannot prepare a run");
	(void)snprintf(t->word, sizeof(t->word), "%d", port);
	pid = sys_clone(0, NULL);
	if (pid == 0)
		run_and_tell(t, -1, to);
	fd_closep(&to);
	r = pid < 0 ? pid
		    : sys_recv_record(from, &outcome, sizeof(outcome), NULL);
	if (pid > 0)
		(void)sys_waitpid(pid, NULL, 0);
	if (r <= 0)
		return hb_fail(err, r < 0 ? r : -EIO, "cannot make a run");
	if (outcome.status < 0) {
		*err = outcome.error;
		return outcome.status;
	}
	if (!(outcome.status & RAN))
		return hb_fail(err, -HB_E_CHILD, "the run ended with %d",
			       outcome.status);
	*ret_bad = ((unsigned)outcome.status & (RAN - 1)) |
		   look_outside(t->dir, port);
	return 0;
}

/* Whether the other end of a pipe tells something, or that it is gone. */
static bool awaits(int fd, short events)
{
	struct pollfd poll = { .fd = fd, .events = events };

	return sys_poll(&poll, 1, PATIENCE_MS) > 0;
}

/* The run's own process is killed while the command holds a pipe. */
static bool outlives(struct trial *t)
{
	auto_fd int from = -1;
	auto_fd int to = -1;
	int pipe[2], r;
	char text[16];
	pid_t pid;
	bool is_gone;

	if (sys_pipe(pipe) < 0)
		return true;
	r = sys_socket_pair(&from, &to);
	(void)snprintf(t->word, sizeof(t->word), "wait");
	pid = r < 0 ? r : sys_clone(0, NULL);
	if (pid == 0)
		run_and_tell(t, pipe[1], to);
	sys_close(pipe[1]);
	is_gone = pid > 0 && awaits(pipe[0], POLLIN) &&
		  sys_read(pipe[0], text, sizeof(text)) > 0;
	if (pid > 0)
		sys_kill_and_reap(pid);
	is_gone = is_gone && awaits(pipe[0], POLLIN) &&
		  sys_read(pipe[0], text, sizeof(text)) == 0;
	sys_close(pipe[0]);
	return !is_gone;
}

static struct hb_check check_of(size_t i)
{
	return (struct hb_check){ .name = rows[i].name,
				  .was_tried = true,
				  .used_for = rows[i].used_for,
				  .lost = rows[i].lost };
}

/* None could be tried: the reason stands in the first. */
static int tell_untried(const struct hb_error *why, assured_fn tell,
			void *context)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct hb_check check = check_of(i);

		check.was_tried = false;
		check.verdict = HB_VERDICT_WARN;
		(void)snprintf(
			check.found, sizeof(check.found), "not tried: %s",
			why && why->text[0] ? why->text : "nothing can be run");
		tell(context, &check);
	}
	return 0;
}

static int tell_seven(unsigned bad, assured_fn tell, void *context)
{
	int n_failed = 0;

	for (size_t i = 0; i < ROWS; i++) {
		struct hb_check check = check_of(i);

		if (bad & rows[i].bit) {
			check.verdict = rows[i].is_choice ? HB_VERDICT_WARN
							  : HB_VERDICT_FAIL;
			(void)snprintf(check.found, sizeof(check.found), "%s",
				       rows[i].found);
			(void)snprintf(check.fix, sizeof(check.fix), "%s",
				       rows[i].fix);
			n_failed += !rows[i].is_choice;
		}
		tell(context, &check);
	}
	return n_failed;
}

/* An agent that is installed, in a run with the profile of its name. */
static void tell_agent(struct trial *t, const char *name, const char *path,
		       assured_fn tell, void *context)
{
	struct hb_check check = {
		.name = name,
		.was_tried = true,
		.used_for = "an agent that is installed, with its profile",
		.lost = "it can send its files anywhere, and talk to services of this machine",
	};
	struct hb_error err = { 0 };
	unsigned bad = 0;
	size_t n;

	(void)snprintf(check.found, sizeof(check.found), "%.300s", path);
	t->profile = name;
	if (try_inside(t, &bad, &err) < 0) {
		check.verdict = HB_VERDICT_WARN;
		check.lost = "it cannot be run";
		(void)snprintf(check.found, sizeof(check.found), "%s",
			       err.text);
		memcpy(check.fix, err.fix, sizeof(check.fix));
	}
	for (size_t i = 0; i < ROWS; i++) {
		if (!(bad & rows[i].bit))
			continue;
		check.verdict = HB_VERDICT_WARN;
		n = strlen(check.found);
		(void)snprintf(check.found + n, sizeof(check.found) - n, "; %s",
			       rows[i].found);
		if (rows[i].bit == BAD_NET)
			(void)snprintf(
				check.fix, sizeof(check.fix),
				"holdback run --net none, if it can work without");
	}
	tell(context, &check);
}

static void tell_agents(struct trial *t, assured_fn tell, void *context)
{
	const char *path = env_get(t->envp, "PATH");
	const struct profile *profile;

	for (size_t i = 0; (profile = profile_at(i)) != NULL; i++) {
		char name[PATH_MAX], real[PATH_MAX];

		if (strcmp(profile->name, PROFILE_BASE) == 0 ||
		    strcmp(profile->name, PROFILE_GENERIC) == 0 ||
		    look_command(profile->name, path, "/", name, real, NULL) <
			    0)
			continue;
		tell_agent(t, profile->name, name, tell, context);
	}
}

int assured_tell(const char *dir, char *const *envp, bool can_run,
		 assured_fn tell, void *context)
{
	struct trial t = { .dir = dir, .envp = envp };
	struct hb_error err = { 0 };
	unsigned bad = 0;
	int n_failed;

	if (!can_run || try_inside(&t, &bad, &err) < 0)
		return tell_untried(&err, tell, context);
	if (outlives(&t))
		bad |= BAD_PARENT;
	n_failed = tell_seven(bad, tell, context);
	tell_agents(&t, tell, context);
	return n_failed;
}
