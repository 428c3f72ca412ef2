/* SPDX-License-Identifier: Apache-2.0 */
#include "box/join.h"

#include "base/auto.h"
#include "base/path.h"
#include "box/door.h"
#include "box/stage.h"
#include "box/state.h"
#include "box/supervisor.h"
#include "box/tail.h"
#include "box/terminal.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/*
 * Joining a live box
 * ------------------
 *
 *	client	stays outside: it has the terminal, and waits for the command
 *	  guide	enters the namespaces one by one, makes the command, and ends
 *	  command	has the client for a parent, and the stages of every
 *		command before it executes
 *
 * All three share the client's memory until the command executes.
 *
 *	(a) The client enters nothing.  Whoever is in the box's mount namespace
 *	    keeps its layers mounted, and the box may end before the client.
 *	(b) The command is in the box's pid namespace only after all others were
 *	    entered: /proc/PID/mountinfo and /proc/PID/net are open to everybody
 *	    in the box, and would show the host's.
 *	(c) Until it executes, the memory belongs to the host's user namespace
 *	    and is not dumpable: nobody in the box traces it, reads it, or gets
 *	    at its descriptors.  tests/escape/join.py
 *	(d) The command dies with the client, also with one that dies early.
 */

#define GUIDE_STACK   65536
#define COMMAND_STACK 65536

/* How long a supervisor may be silent before it is looked at. */
#define SILENCE_MS 1000
/* So often by who only wants to know; others wait for what they are there for.
 */
#define LOOKS 2

/* What a command has after SIGHUP. */
#define HANG_UP_MS 2000

struct join {
	struct box box;
	struct plan plan;
	struct terminal terminal;
	char chdir[BOX_CWD_SIZE];
	char **inside; /* the environment */
	int door;
	int fds[SYS_RECORD_FDS]; /* as they come with a greeting */
	size_t n_fds;
	unsigned ns;
	struct cgroup cgroup; /* its directory is one of these */
	int client;	      /* a pidfd */
	int signals;

	/* Written by the guide and the command, in memory that we share. */
	pid_t pid;
	bool has_failed;
	struct hb_error *err;

	bool has_ended;
	bool is_hung_up;
	int64_t deadline; /* ms; 0: there is none */
	struct join_result result;
};

static int is_silent(pid_t supervisor, struct hb_error *err)
{
	if (supervisor <= 0 || !sys_is_stopped(supervisor))
		return 0;
	hb_fix(err, "let process %d go on, as 'fg' in its terminal does",
	       (int)supervisor);
	return hb_fail(err, -HB_E_BUSY,
		       "the command that holds the session is stopped");
}

/*
 * Waits until the supervisor says something, whom nobody else can be.  `looks`
 * of 0 are any number.
 */
static int await_word(int fd, unsigned looks, struct hb_error *err)
{
	struct pollfd word = { .fd = fd, .events = POLLIN };
	struct sys_peer peer;
	int r;

	r = sys_peer(fd, &peer);
	if (r < 0)
		return hb_fail(err, r, "cannot tell who holds the session");
	if (peer.uid != sys_geteuid())
		return hb_fail(err, -HB_E_STATE,
			       "user %u listens for who joins the session",
			       (unsigned)peer.uid);
	while ((r = sys_poll(&word, 1, SILENCE_MS)) == 0) {
		r = is_silent(peer.pid, err);
		if (r < 0)
			return r;
		if (looks > 0 && --looks == 0)
			return hb_fail(err, -HB_E_BUSY,
				       "who holds the session does not answer");
	}
	return r < 0 ? hb_fail(err, r, "cannot wait for the box") : 0;
}

static int await_greeting(int fd, unsigned looks,
			  struct door_greeting *ret_greeting, int *fds,
			  size_t *ret_n, struct hb_error *err)
{
	int r;

	r = await_word(fd, looks, err);
	if (r < 0)
		return r;
	r = sys_recv_record_fds(fd, ret_greeting, sizeof(*ret_greeting), NULL,
				fds, ret_n);
	if (r == 0 || r == -ECONNRESET)
		return -EAGAIN;
	if (r < 0 || ret_greeting->magic != DOOR_MAGIC || *ret_n < 2) {
		for (size_t i = 0; r > 0 && i < *ret_n; i++)
			sys_close(fds[i]);
		*ret_n = 0;
		hb_fix(err, "end its first command");
		return hb_fail(
			err, -HB_E_STATE,
			"the box was made by another version of holdback");
	}
	return 0;
}

/* Where we are, as the view has it; else the first place. */
static int find_cwd(struct join *j, struct hb_error *err)
{
	const struct plan_place *place = j->plan.places;
	char here[BOX_CWD_SIZE];
	const char *rest = "";
	int r;

	if (sys_getcwd(here, sizeof(here)) < 0)
		here[0] = '\0';
	for (size_t i = 0; i < j->plan.n_places; i++) {
		if (!path_is_beneath(here, j->plan.places[i].source))
			continue;
		place = &j->plan.places[i];
		rest = here + strlen(place->source);
		break;
	}
	r = path_join(place->inside, rest, j->chdir, sizeof(j->chdir));
	if (r < 0)
		return hb_fail(err, r, "cannot tell the working directory");
	j->plan.chdir = j->chdir;
	return 0;
}

static int prepare(struct join *j, char *const *argv, char *const *envp,
		   struct hb_error *err)
{
	struct door_greeting greeting;
	int r;

	r = await_greeting(j->door, 0, &greeting, j->fds, &j->n_fds, err);
	if (r < 0)
		return r;
	j->ns = greeting.ns;
	if (greeting.has_cgroup)
		j->cgroup.dir = j->fds[j->n_fds - 1];
	j->box.has_group_pids = greeting.has_group_pids;
	j->box.has_init = true;
	j->box.root_place = greeting.root;
	r = tail_read(j->fds[DOOR_TAIL], greeting.tail_size, &j->plan, err);
	if (r >= 0)
		r = find_cwd(j, err);
	if (r < 0)
		return r;
	j->plan.argv = argv;
	r = plan_environment(&j->plan, envp, &j->inside, err);
	if (r >= 0)
		r = box_identify(&j->box, err);
	if (r >= 0)
		r = box_lists_make(&j->box, j->inside, err);
	return r;
}

/*
 * A file that is only to be read needs a mount of its own while the host's are
 * there, and the right to make one is what the user namespace has given.
 */
static int keep_stdio(struct join *j, struct hb_error *err)
{
	int r;

	if (!stdio_needs_mount())
		return 0;
	r = sys_unshare(CLONE_NEWNS);
	if (r < 0)
		return hb_fail(err, r, "cannot make a mount namespace");
	return step_stdio(&j->box, err);
}

static int enter(struct join *j, struct hb_error *err)
{
	size_t next = DOOR_NAMESPACES;
	int r;

	/* (c) */
	r = sys_set_dumpable(0);
	if (r >= 0 && sys_is_dumpable())
		r = -EPERM;
	if (r < 0)
		return hb_fail(err, r, "cannot become undumpable");
	/* By the host's path of it, and by who may: before all else. */
	if (j->cgroup.dir >= 0) {
		r = cgroup_enter(&j->cgroup, sys_getpid(), err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < BOX_NAMESPACES; i++) {
		const struct box_namespace *ns = &box_namespaces[i];

		if (!has_namespace(j->ns, ns))
			continue;
		if (next >= j->n_fds)
			return hb_fail(err, -HB_E_CHILD,
				       "a namespace of the box is missing");
		r = ns->flag == CLONE_NEWNS ? keep_stdio(j, err) : 0;
		if (r < 0)
			return r;
		r = sys_setns(j->fds[next++], ns->flag);
		if (r < 0)
			return hb_fail(err, r, "cannot enter '%s' of the box",
				       ns->path);
	}
	return step_bound(&j->box, err);
}

static int start_command(void *arg)
{
	struct join *j = arg;
	struct pollfd client = { .fd = j->client, .events = POLLIN };

	/* (d): the signal alone is lost if the client dies before this. */
	(void)sys_set_parent_death_signal(SIGKILL);
	if (sys_poll(&client, 1, 0) != 0)
		sys_exit(1);
	if (stage_run_command(&j->box, j->err) >= 0) {
		(void)step_exec(&j->box, j->err);
		j->err->stage = STAGE_EXEC;
	}
	j->has_failed = true;
	sys_exit(1);
}

static int start_guide(void *arg)
{
	static char stack[COMMAND_STACK] __attribute__((aligned(16)));
	struct join *j = arg;

	if (enter(j, j->err) < 0) {
		j->err->stage = STAGE_JOIN;
		j->has_failed = true;
		sys_exit(1);
	}
	j->pid = sys_vfork_with(start_command, j, stack, sizeof(stack),
				CLONE_PARENT);
	if (j->pid < 0) {
		(void)hb_fail(j->err, j->pid, "cannot start the command");
		j->has_failed = true;
	}
	sys_exit(0);
}

static void close_received(struct join *j)
{
	for (size_t i = 0; i < j->n_fds; i++)
		fd_closep(&j->fds[i]);
	j->n_fds = 0;
}

/* The command runs when this returns, or did not start. */
static int start(struct join *j, struct hb_error *err)
{
	static char stack[GUIDE_STACK] __attribute__((aligned(16)));
	bool was_dumpable = sys_is_dumpable();
	pid_t guide;

	j->client = sys_own_pidfd();
	if (j->client < 0)
		return hb_fail(err, j->client, "cannot watch ourselves");
	j->err = err;
	guide = sys_vfork_with(start_guide, j, stack, sizeof(stack), 0);
	fd_closep(&j->client);
	if (guide < 0)
		return hb_fail(err, guide, "cannot enter the box");
	(void)sys_waitpid(guide, NULL, 0);
	/* (a); and what is left of us is as before. */
	close_received(j);
	if (was_dumpable)
		(void)sys_set_dumpable(1);
	if (!j->has_failed && j->pid > 0)
		return 0;
	if (j->pid > 0)
		(void)sys_waitpid(j->pid, NULL, 0);
	/* Neither said why: somebody killed it. */
	if (!j->has_failed)
		return hb_fail(err, -HB_E_CHILD, "cannot enter the box");
	return err->code > 0 ? -err->code : -HB_E_CHILD;
}

static void take_changes(struct join *j)
{
	int status = 0;

	while (!j->has_ended &&
	       sys_waitpid(j->pid, &status, WNOHANG | WUNTRACED) > 0) {
		if (WIFSTOPPED(status)) {
			terminal_stopped(&j->terminal, WSTOPSIG(status),
					 j->signals);
			continue;
		}
		j->has_ended = true;
		j->result.status = supervise_exit_status(status);
	}
}

/* The supervisor has nothing to say but that it is over. */
static void on_hang_up(struct join *j)
{
	j->is_hung_up = true;
	j->deadline = sys_now_ms() + HANG_UP_MS;
	terminal_pass_on(&j->terminal, SIGHUP);
	terminal_pass_on(&j->terminal, SIGCONT);
}

static int wait_for(struct join *j, struct hb_error *err)
{
	struct sys_signal signal;
	int r;

	take_changes(j);
	while (!j->has_ended) {
		struct pollfd fds[2] = {
			{ .fd = j->signals, .events = POLLIN },
			{ .fd = j->is_hung_up ? -1 : j->door,
			  .events = POLLIN },
		};
		int64_t left = j->deadline - sys_now_ms();

		if (j->deadline > 0 && left <= 0) {
			j->deadline = 0;
			terminal_pass_on(&j->terminal, SIGKILL);
		}
		r = sys_poll(fds, 2, j->deadline > 0 ? (int)left : -1);
		if (r < 0)
			return hb_fail(err, r, "cannot wait for the command");
		while (sys_signalfd_next(j->signals, &signal) > 0)
			terminal_signal(&j->terminal, &signal);
		if (fds[1].revents)
			on_hang_up(j);
		take_changes(j);
	}
	j->result.has_box_ended = j->is_hung_up;
	return 0;
}

static int run(struct join *j, struct hb_error *err)
{
	struct door_request joined = { .magic = DOOR_MAGIC,
				       .word = DOOR_JOINED };
	sigset_t set;
	int r;

	terminal_init(&j->terminal);
	j->box.group = j->terminal.group;
	j->box.tty = j->terminal.fd;
	j->box.is_foreground = j->terminal.is_foreground;
	box_handled_signals(&set);
	(void)sigaddset(&set, SIGCHLD);
	r = sys_block_signals(&set, &j->box.mask);
	if (r < 0)
		return hb_fail(err, r, "cannot block signals");
	j->box.has_mask = true;
	j->signals = sys_signalfd(&set);
	r = j->signals < 0
		    ? hb_fail(err, j->signals, "cannot watch for signals")
		    : start(j, err);
	if (r >= 0) {
		joined.pid = j->pid;
		(void)sys_send_record(j->door, &joined, sizeof(joined));
		terminal_started(&j->terminal, j->pid);
		r = wait_for(j, err);
	}
	terminal_done(&j->terminal);
	fd_closep(&j->signals);
	(void)sys_restore_signals(&j->box.mask);
	return r;
}

int join_run(int fd, char *const *argv, char *const *envp,
	     struct join_result *ret_result, struct hb_error *err)
{
	struct join j = { .box = { BOX_NO_DESCRIPTORS },
			  .door = fd,
			  .cgroup = CGROUP_NONE,
			  .client = -1,
			  .signals = -1 };
	struct hb_error local = { 0 };
	int r;

	if (!err)
		err = &local;
	j.box.plan = &j.plan;
	plan_init(&j.plan);
	r = prepare(&j, argv, envp, err);
	if (r >= 0)
		r = run(&j, err);
	close_received(&j);
	box_lists_free(&j.box);
	free(j.inside);
	plan_done(&j.plan);
	if (r < 0)
		return stage_fail(err, r);
	*ret_result = j.result;
	return 0;
}

/* Who only asks does not need what it is greeted with. */
static int ask(int fd, enum door_word word, unsigned looks,
	       struct hb_error *err)
{
	const struct door_request request = { .magic = DOOR_MAGIC,
					      .word = word };
	struct door_greeting greeting;
	int fds[SYS_RECORD_FDS];
	size_t n = 0;
	int r;

	r = await_greeting(fd, looks, &greeting, fds, &n, err);
	for (size_t i = 0; i < n; i++)
		sys_close(fds[i]);
	if (r < 0)
		return r;
	r = sys_send_record(fd, &request, sizeof(request));
	if (r == -EPIPE || r == -ECONNRESET)
		return -EAGAIN;
	return r < 0 ? hb_fail(err, r, "cannot ask who holds the session") : 0;
}

int join_status(int fd, struct door_status *ret_status, struct hb_error *err)
{
	int r;

	r = ask(fd, DOOR_STATUS, LOOKS, err);
	if (r >= 0)
		r = await_word(fd, LOOKS, err);
	if (r < 0)
		return r;
	r = sys_recv_record(fd, ret_status, sizeof(*ret_status), NULL);
	if (r == 0 || r == -ECONNRESET)
		return -EAGAIN;
	if (r < 0 || ret_status->magic != DOOR_MAGIC)
		return hb_fail(err, r < 0 ? r : -HB_E_STATE,
			       "cannot hear from who holds the session");
	return 0;
}

int join_stop(int fd, struct hb_error *err)
{
	int r;

	r = ask(fd, DOOR_STOP, 0, err);
	return r < 0 ? r : await_word(fd, 0, err);
}
