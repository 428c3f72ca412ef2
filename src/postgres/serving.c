/* SPDX-License-Identifier: Apache-2.0 */
#include "postgres/serving.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/quote.h"
#include "holdback/holdback.h"
#include "postgres/inspection.h"
#include "postgres/picture.h"
#include "postgres/private_server.h"
#include "postgres/whole_file.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static bool is_filled(const struct place *place, const char *digest)
{
	return whole_is(place->dir, INSPECTION_FILLED, digest, strlen(digest));
}

/* What is cut short has no mark, and begins anew. */
static int fill(struct private_server *s, const struct place *place,
		const char *digest, struct hb_error *err)
{
	const char *user = s->facts->user;
	char archive[PATH_MAX];
	int r = sys_unlinkat(place->dir, INSPECTION_FILLED, 0);

	(void)snprintf(archive, sizeof(archive), "%s/" PICTURE_ARCHIVE,
		       place->picture_path);
	r = r == -ENOENT ? 0 : r;
	if (r >= 0)
		r = private_init(s, err);
	if (r >= 0)
		r = private_start(s, err);
	if (r >= 0)
		r = private_prepare(s, user, true, err);
	if (r >= 0)
		r = private_restore(s, user, archive, NULL, err);
	return r < 0 ? r
		     : whole_put(place->dir, INSPECTION_FILLED, digest,
				 strlen(digest), err);
}

static const struct {
	int signal;
	bool is_passed; /* to the command: it is not of the terminal */
} kept[] = {
	{ SIGINT, false }, { SIGQUIT, false }, { SIGHUP, true },
	{ SIGTERM, true }, { SIGUSR1, true },  { SIGUSR2, true },
};

/*
 * Keys reach the command by the terminal itself.  Signals that are sent to us
 * are meant for it.
 */
static int wait_for(pid_t pid, const sigset_t *set, int *ret_status)
{
	auto_fd int fd = sys_signalfd(set);
	struct sys_signal signal;
	struct pollfd poll = { .fd = fd, .events = POLLIN };
	int r;

	if (fd < 0)
		return (int)sys_waitpid(pid, ret_status, 0);
	while ((r = (int)sys_waitpid(pid, ret_status, WNOHANG)) == 0) {
		(void)sys_poll(&poll, 1, -1);
		while (sys_signalfd_next(fd, &signal) == 1)
			for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]);
			     i++)
				if (kept[i].is_passed &&
				    kept[i].signal == (int)signal.number)
					(void)sys_kill(pid, kept[i].signal);
	}
	return r;
}

_Noreturn static void execute(char **argv, char *const *envp,
			      const sigset_t *old)
{
	const char *path = env_get(envp, "PATH");
	int r;

	(void)sys_restore_signals(old);
	r = sys_execvpe(argv[0], argv, envp, path ? path : DEFAULT_PATH);
	(void)fprintf(stderr, "holdback: cannot execute '%s': %s\n",
		      quoted(argv[0]), strerror(-r));
	sys_exit(r == -ENOENT ? HB_EXIT_NOT_FOUND : HB_EXIT_NOT_EXECUTABLE);
}

static int run_command(char **argv, char *const *envp, int *ret_status,
		       struct hb_error *err)
{
	sigset_t set, old;
	int status = 0, r;
	pid_t pid;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		(void)sigaddset(&set, kept[i].signal);
	r = sys_block_signals(&set, &old);
	if (r < 0)
		return hb_fail(err, r, "cannot block signals");
	pid = sys_clone(0, NULL);
	if (pid == 0)
		execute(argv, envp, &old);
	if (pid < 0)
		return hb_fail(err, pid, "cannot start the command");
	r = wait_for(pid, &set, &status);
	if (r < 0)
		return hb_fail(err, r, "cannot wait for the command");
	*ret_status = WIFSIGNALED(status) ? HB_EXIT_SIGNAL + WTERMSIG(status)
					  : WEXITSTATUS(status);
	return 0;
}

int serving_run(const struct place *place, char **argv, int *ret_status,
		struct hb_error *err)
{
	auto_facts struct database_facts f = { 0 };
	struct private_server s = { .facts = &f,
				    .envp = place->envp,
				    .dir = place->dir,
				    .path = place->path,
				    .data = "data" };
	char digest[WHOLE_HEX_SIZE];
	int r = facts_read(place->facts, &f, err);

	if (r >= 0)
		r = whole_digest(place->picture, PICTURE_ARCHIVE, digest, err);
	if (r >= 0)
		r = is_filled(place, digest) ? private_start(&s, err)
					     : fill(&s, place, digest, err);
	if (r >= 0)
		r = run_command(argv, place->envp, ret_status, err);
	/* A server that the command ended itself is no failure of it. */
	(void)private_stop(&s, NULL);
	return r;
}
