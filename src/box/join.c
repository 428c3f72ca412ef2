/* SPDX-License-Identifier: Apache-2.0 */
#include "box/join.h"

#include "base/auto.h"
#include "base/path.h"
#include "base/report.h"
#include "box/door.h"
#include "box/job_signals.h"
#include "box/knock.h"
#include "box/lead.h"
#include "box/limits.h"
#include "box/notify/heard.h"
#include "box/pty.h"
#include "box/reach.h"
#include "box/stage.h"
#include "box/state.h"
#include "box/status.h"
#include "box/tail.h"
#include "box/terminal.h"
#include "plan/environment/env.h"
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
 *	leader	stays outside as well, and is there if the command has a
 *		terminal of its own: it leads its session (box/lead.h), and
 *		tells the client as init tells a supervisor
 *	  guide	enters the namespaces one by one, makes the command, and ends
 *	  command	has the client or the leader for a parent, and the
 *		stages of every command before it executes
 *
 * The last two share their parent's memory until the command executes.
 *
 *	(a) The client enters nothing.  Whoever is in the box's mount namespace
 *	    keeps its layers mounted, and the box may end before the client.
 *	(b) The command is in the box's pid namespace only after all others were
 *	    entered: /proc/PID/mountinfo and /proc/PID/net are open to everybody
 *	    in the box, and would show the host's.
 *	(c) Until it executes, the memory belongs to the host's user namespace
 *	    and is not dumpable: nobody in the box traces it, reads it, or gets
 *	    at its descriptors.  tests/escape/join.py
 *	(d) The command dies with its parent, also with one that dies early,
 *	    and so does the leader.
 */

#define GUIDE_STACK   65536
#define COMMAND_STACK 65536

/* What a command has after SIGHUP. */
#define HANG_UP_MS 2000

/* How often a command that was asked to end is woken in a stopped box. */
#define WAKE_MS 100
/* How often the end of a box is looked for: a keeper may be stopped. */
#define LEAVE_LOOKS 30

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
	pid_t init;	      /* of a box with a network of its own; else 0 */
	uint64_t n_missed;    /* in it, before this command began */
	struct cgroup cgroup; /* its directory is one of these */
	int client;	      /* a pidfd of the command's parent */
	int signals;
	int watch, report; /* between client and leader; -1: there is none */
	pid_t leader;	   /* 0: there is none */

	/* Written by the guide and the command, in memory that we share. */
	pid_t pid;
	bool has_failed;
	struct hb_error *err;

	bool is_started;
	int given_up; /* the signal that did, before it was started; 0: none */
	bool has_ended;
	bool is_hung_up;
	bool is_halted;		  /* with all of the box, for want of room */
	uint64_t left;		  /* bytes, if so */
	bool has_stopped;	  /* meanwhile, for want of the terminal */
	enum door_tidings answer; /* to DOOR_WHOSE; 0: there is none yet */
	int64_t deadline;	  /* ms; 0: there is none */
	int64_t grace; /* ms: until then it may end in a stopped box */
	struct join_result result;
	const struct hb_listener *listener;
};

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

/* 0 where the numbers of processes are others than the supervisor's. */
static pid_t find_init(const struct join *j, const struct door_greeting *told)
{
	struct sys_peer peer;

	return sys_peer(j->door, &peer) >= 0 && peer.pid == told->supervisor
		       ? told->init
		       : 0;
}

static void tell_door(const struct join *j, enum door_word word)
{
	const struct door_request request = { .magic = DOOR_MAGIC,
					      .word = word,
					      .pid = j->pid };

	(void)sys_send_record(j->door, &request, sizeof(request));
}

/* From the answer on the box goes on for us; without one there is no box. */
static int announce(struct join *j, struct hb_error *err)
{
	struct door_news news = { 0 };
	int r;

	tell_door(j, DOOR_JOINED);
	r = knock_await(j->door, KNOCK_LOOKS, err);
	if (r < 0)
		return r;
	r = sys_recv_record(j->door, &news, sizeof(news), NULL);
	if (r <= 0 || news.magic != DOOR_MAGIC)
		return -EAGAIN;
	return 0;
}

static int prepare(struct join *j, char *const *argv, char *const *envp,
		   struct hb_error *err)
{
	struct door_greeting greeting;
	int r;

	r = knock_greeting(j->door, 0, &greeting, j->fds, &j->n_fds, err);
	if (r < 0)
		return r;
	j->ns = greeting.ns;
	if (j->ns & PLAN_NS_NET)
		j->init = find_init(j, &greeting);
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
	j->box.pids = limits_pids(&j->plan.limits);
	j->plan.argv = argv;
	if (greeting.is_heard)
		j->box.heard = heard_notified(&j->box);
	/* It stays open for the command until its listener is sent. */
	if (j->box.heard)
		j->box.door = j->box.report = j->door;
	r = plan_environment(&j->plan, envp, &j->inside, err);
	if (r >= 0)
		r = box_identify(&j->box, err);
	if (r >= 0)
		r = box_lists_make(&j->box, j->inside, err);
	return r < 0 ? r : announce(j, err);
}

/*
 * A file that is only read needs a mount of its own while the host's are there.
 * The user namespace has given the right to make one.
 */
static int keep_stdio(void *ctx, struct hb_error *err)
{
	struct join *j = ctx;
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
	int r;

	/* (c) */
	r = sys_become_undumpable();
	if (r < 0)
		return hb_fail(err, r, "cannot become undumpable");
	/* By the host's path of it, and by who may: before all else. */
	if (j->cgroup.dir >= 0) {
		r = cgroup_enter(&j->cgroup, sys_getpid(), err);
		if (r < 0)
			return r;
	}
	r = namespaces_enter(
		&(struct namespaces){ .ns = j->ns,
				      .fds = j->fds + DOOR_NAMESPACES,
				      .n = j->n_fds - DOOR_NAMESPACES,
				      .before_mounts = keep_stdio,
				      .ctx = j },
		err);
	if (r < 0)
		return r;
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
	/* Neither said why: it was killed. */
	if (!j->has_failed)
		return hb_fail(err, -HB_E_CHILD, "cannot enter the box");
	return err->code > 0 ? -err->code : -HB_E_CHILD;
}

static void note_end(struct join *j, int wait_status)
{
	if (j->given_up > 0)
		wait_status = j->given_up;
	j->has_ended = true;
	j->result.status = supervise_exit_status(wait_status);
	j->result.death.signal = supervise_signal(wait_status);
}

/*
 * The command is not to start any more.  Its leader, which waits for it, reaps
 * it and says so.
 */
static void give_up(struct join *j, int sig)
{
	j->given_up = sig;
	(void)sys_kill_children_of(j->leader, SIGKILL);
}

/* The supervisor has nothing else to say but that it is over. */
static void on_hang_up(struct join *j)
{
	j->is_hung_up = true;
	j->deadline = sys_now_ms() + HANG_UP_MS;
	terminal_pass_on(&j->terminal, SIGHUP);
	terminal_pass_on(&j->terminal, SIGCONT);
}

static void halt(struct join *j, uint64_t left)
{
	if (!j->is_halted)
		terminal_leave(&j->terminal);
	j->is_halted = true;
	j->left = left;
	(void)report_send(
		j->listener,
		&(struct hb_report){ .kind = HB_REPORT_STOPPED, .n = left });
}

static void go_on(struct join *j)
{
	if (!j->is_halted)
		return;
	j->is_halted = false;
	terminal_return(&j->terminal);
	if (j->has_stopped)
		terminal_pass_on(&j->terminal, SIGCONT);
	j->has_stopped = false;
}

static void hear_door(struct join *j)
{
	struct pollfd word = { .fd = j->door, .events = POLLIN };
	struct door_news news;

	while (!j->is_hung_up && sys_poll(&word, 1, 0) > 0) {
		if (sys_recv_record(j->door, &news, sizeof(news), NULL) <= 0 ||
		    news.magic != DOOR_MAGIC) {
			go_on(j);
			on_hang_up(j);
			return;
		}
		if (news.tidings == DOOR_FULL) {
			halt(j, news.left);
			continue;
		}
		if (news.tidings == DOOR_OURS || news.tidings == DOOR_YOURS) {
			j->answer = news.tidings;
			continue;
		}
		go_on(j);
		if (news.tidings == DOOR_ROOM)
			(void)report_send(j->listener,
					  &(struct hb_report){
						  .kind = HB_REPORT_RESUMED });
	}
}

/*
 * Whether a SIGSTOP came from init, for want of room.  News of the stop and
 * that of its end may be older than both: only the supervisor can tell.
 */
static bool is_by_init(struct join *j)
{
	j->answer = 0;
	tell_door(j, DOOR_WHOSE);
	while (j->answer == 0 && !j->is_hung_up &&
	       knock_await(j->door, KNOCK_LOOKS, NULL) >= 0)
		hear_door(j);
	return j->answer == DOOR_OURS;
}

/* The supervisor says why before it stops us; another stop is our own. */
static void on_stopped(struct join *j, int sig)
{
	bool was_halted = j->is_halted;

	/* It may have gone on before it had the terminal again. */
	j->has_stopped = was_halted && sig != SIGSTOP;
	hear_door(j);
	if (was_halted || (j->is_halted && sig == SIGSTOP))
		return;
	if (sig == SIGSTOP && is_by_init(j))
		return;
	if (sig == SIGSTOP)
		lead_tell(j->watch, LEAD_STOPPED);
	terminal_stopped(&j->terminal, sig, j->signals);
}

/*
 * The box is stopped, and the terminal is ours: a ^Z is for us alone.  A signal
 * to end reaches the command if it goes on for a while.  A look of the
 * supervisor may stop it again in the middle of its handler.  So it is woken
 * until its time is over.
 */
static void on_signal(struct join *j, const struct sys_signal *signal)
{
	if (j->is_halted && !j->is_started && job_signal_ends(signal->number)) {
		give_up(j, signal->number);
		return;
	}
	if (j->is_halted && signal->number == SIGCONT)
		return;
	if (!j->is_halted || !job_signal_stops(signal->number)) {
		terminal_signal(&j->terminal, signal);
		if (j->is_halted && job_signal_ends(signal->number)) {
			terminal_pass_on(&j->terminal, SIGCONT);
			j->grace = sys_now_ms() + BOX_GRACE_MS;
		}
		return;
	}
	(void)sys_raise_default(signal->number);
	hear_door(j);
	if (j->is_halted)
		halt(j, j->left);
}

static void on_started(struct join *j)
{
	j->is_started = true;
	tell_door(j, DOOR_JOINED);
	terminal_started(&j->terminal, j->pid);
	(void)report_send(j->listener,
			  &(struct hb_report){ .kind = HB_REPORT_STARTED,
					       .path = j->plan.argv[0],
					       .n = (uint64_t)j->pid });
}

/* What the leader tells; <0: there will be no command. */
static int take_message(struct join *j, struct hb_error *err)
{
	struct message message;
	int r;

	r = sys_recv_record(j->watch, &message, sizeof(message), NULL);
	if (j->given_up > 0 && (r <= 0 || message.kind == MESSAGE_ERROR)) {
		note_end(j, 0);
		return 0;
	}
	if (r <= 0 && !j->is_started)
		return hb_fail(err, -HB_E_CHILD, "cannot enter the box");
	/* A leader that says nothing was killed, and the command with it. */
	if (r <= 0) {
		note_end(j, SIGKILL);
	} else if (message.kind == MESSAGE_ERROR) {
		*err = message.error;
		return err->code > 0 ? -err->code : -HB_E_CHILD;
	} else if (message.kind == MESSAGE_STARTED) {
		j->pid = message.value;
		on_started(j);
	} else if (message.kind == MESSAGE_STOPPED) {
		on_stopped(j, message.value);
	} else if (message.kind == MESSAGE_EXITED) {
		note_end(j, message.value);
	}
	return 0;
}

static void take_changes(struct join *j)
{
	int status = 0;

	while (!j->has_ended && j->watch < 0 &&
	       sys_waitpid(j->pid, &status, WNOHANG | WUNTRACED) > 0) {
		if (WIFSTOPPED(status)) {
			on_stopped(j, WSTOPSIG(status));
			continue;
		}
		note_end(j, status);
	}
}

static int sooner(int wait, int ms)
{
	return wait < 0 || ms < wait ? ms : wait;
}

/* What has come due; how long to wait for the next, -1: for ever. */
static int do_due(struct join *j)
{
	int64_t left = j->deadline - sys_now_ms();
	struct pty *pty = j->terminal.pty;
	int wait = -1;

	if (j->deadline > 0 && left <= 0) {
		j->deadline = 0;
		terminal_pass_on(&j->terminal, SIGKILL);
		if (!j->is_started)
			give_up(j, SIGKILL);
	}
	if (j->deadline > 0)
		wait = (int)left;
	if (j->is_halted && sys_now_ms() < j->grace) {
		terminal_pass_on(&j->terminal, SIGCONT);
		wait = sooner(wait, WAKE_MS);
	}
	if (!pty || j->is_halted || !pty_awaits_front(pty))
		return wait;
	terminal_look(&j->terminal);
	return pty_awaits_front(pty) ? sooner(wait, PTY_LOOK_MS) : wait;
}

static int wait_for(struct join *j, struct hb_error *err)
{
	enum {
		SIGNALS,
		DOOR,
		LEADER,
		PTY,
		N = PTY + PTY_FDS
	};
	struct pollfd fds[N];
	struct sys_signal signal;
	int r = 0;

	take_changes(j);
	while (r >= 0 && !j->has_ended) {
		int wait = do_due(j);
		bool is_heard = j->is_started || j->is_halted;

		/* Before, a stop would be for a command that is not there. */
		fds[SIGNALS] = (struct pollfd){ is_heard ? j->signals : -1,
						POLLIN, 0 };
		fds[DOOR] = (struct pollfd){ j->is_hung_up ? -1 : j->door,
					     POLLIN, 0 };
		fds[LEADER] = (struct pollfd){ j->watch, POLLIN, 0 };
		fds[PTY] = fds[PTY + 1] = (struct pollfd){ -1, 0, 0 };
		/* Keys have no reader before, and wait in the terminal. */
		if (j->terminal.pty && j->is_started)
			pty_wants(j->terminal.pty, fds + PTY);
		r = sys_poll(fds, N, wait);
		if (r < 0)
			return hb_fail(err, r, "cannot wait for the command");
		while (is_heard && sys_signalfd_next(j->signals, &signal) > 0)
			on_signal(j, &signal);
		if (fds[DOOR].revents)
			hear_door(j);
		if (fds[PTY].revents || fds[PTY + 1].revents)
			terminal_serve(&j->terminal, fds + PTY);
		if (fds[LEADER].revents)
			r = take_message(j, err);
		take_changes(j);
	}
	j->result.has_box_ended = j->is_hung_up;
	return r;
}

/* The leader: tells of what its command does until that ends. */
static void lead(struct join *j)
{
	static struct lead l;

	lead_init(&l, j->box.peer, j->pid, false);
	for (;;) {
		struct pollfd fds[2] = { { j->signals, POLLIN, 0 },
					 { j->report, POLLIN, 0 } };
		struct sys_signal drop;
		unsigned char word;
		int status;

		while (sys_signalfd_next(j->signals, &drop) > 0)
			;
		while (sys_waitpid(j->pid, &status,
				   WNOHANG | WUNTRACED | WCONTINUED) > 0) {
			if (WIFSTOPPED(status)) {
				/* The client knows whose stop it is. */
				if (WSTOPSIG(status) != SIGSTOP)
					lead_stopped(&l, WSTOPSIG(status));
				message_send(j->report, MESSAGE_STOPPED,
					     WSTOPSIG(status));
			} else if (WIFCONTINUED(status)) {
				lead_continued(&l);
			} else {
				message_send(j->report, MESSAGE_EXITED, status);
				return;
			}
		}
		if (sys_poll(fds, 2, -1) < 0)
			return;
		if (fds[1].revents &&
		    sys_recv_record(j->report, &word, sizeof(word), NULL) <= 0)
			return;
		if (fds[1].revents)
			lead_word(&l, word);
	}
}

/* In the child of the client. */
_Noreturn static void leader_main(struct join *j, pid_t client)
{
	struct hb_error err = { 0 };
	sigset_t set;
	int r;

	fd_closep(&j->watch);
	r = sys_set_parent_death_signal(SIGKILL);
	if (r < 0 || sys_getppid() != client)
		sys_exit(1);
	/* Not the client's: that would share what it hears. */
	fd_closep(&j->signals);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	r = j->signals = sys_signalfd(&set);
	if (r >= 0)
		r = sys_work_at_terminal(j->box.peer);
	if (r >= 0)
		r = pty_move_in(j->box.peer);
	if (r < 0)
		(void)hb_fail(&err, r, "cannot work at a terminal");
	else
		r = start(j, &err);
	if (r < 0) {
		/* Also those that were killed, of which start() knows not. */
		while (sys_waitpid(-1, NULL, 0) > 0)
			;
		message_error(j->report, &err);
		sys_exit(1);
	}
	message_send(j->report, MESSAGE_STARTED, j->pid);
	lead(j);
	sys_exit(0);
}

/*
 * The same as start(), with a leader between, which tells when the command
 * runs.  The client does not wait for it here: the box may be stopped before.
 */
static int start_led(struct join *j, struct hb_error *err)
{
	pid_t client = sys_getpid(), pid;
	int r;

	r = sys_socket_pair(&j->watch, &j->report);
	if (r < 0)
		return hb_fail(err, r, "cannot make the report socket");
	pid = sys_clone(0, NULL);
	if (pid == 0)
		leader_main(j, client);
	fd_closep(&j->report);
	if (pid < 0)
		return hb_fail(err, pid, "cannot enter the box");
	j->leader = pid;
	terminal_moved(&j->terminal);
	/* (a) */
	close_received(j);
	return 0;
}

static int run_command(struct join *j, struct hb_error *err)
{
	int r;

	if (j->init > 0)
		j->n_missed = reach_failures(j->init);
	r = j->terminal.pty ? start_led(j, err) : start(j, err);
	if (r >= 0 && j->leader == 0)
		on_started(j);
	if (r >= 0)
		r = wait_for(j, err);
	if (r >= 0 && j->init > 0 && j->result.status != 0)
		j->result.has_missed_network =
			reach_failures(j->init) > j->n_missed;
	if (j->leader > 0)
		sys_kill_and_reap(j->leader);
	return r;
}

/*
 * Who was the last waits for the end of the box, so that its caller finds the
 * session as the command left it.  A supervisor that is stopped is not waited
 * for.
 */
static void take_leave(struct join *j)
{
	struct door_news news;

	tell_door(j, DOOR_LEFT);
	while (knock_await(j->door, LEAVE_LOOKS, NULL) >= 0) {
		if (sys_recv_record(j->door, &news, sizeof(news), NULL) <= 0) {
			j->result.was_last = true;
			return;
		}
		if (news.magic != DOOR_MAGIC || news.tidings == DOOR_STAYS)
			return;
	}
}

static int run(struct join *j, struct hb_error *err)
{
	sigset_t set;
	int r;

	box_handled_signals(&set);
	(void)sigaddset(&set, SIGCHLD);
	r = sys_block_signals(&set, &j->box.mask);
	if (r < 0)
		return hb_fail(err, r, "cannot block signals");
	j->box.has_mask = true;
	r = terminal_init(&j->terminal, &j->box, &j->watch, err);
	if (r >= 0) {
		j->signals = sys_signalfd(&set);
		r = j->signals < 0 ? hb_fail(err, j->signals,
					     "cannot watch for signals")
				   : run_command(j, err);
	}
	terminal_done(&j->terminal, j->signals);
	j->result.clipboard = j->terminal.clipboard;
	j->result.death.is_typed =
		terminal_typed(&j->terminal, j->result.death.signal);
	fd_closep(&j->signals);
	fd_closep(&j->watch);
	(void)sys_restore_signals(&j->box.mask);
	if (r >= 0 && !j->is_hung_up)
		take_leave(j);
	return r;
}

int join_run(int fd, char *const *argv, char *const *envp, const char *tty,
	     const struct hb_listener *listener, struct join_result *ret_result,
	     struct hb_error *err)
{
	struct join j = { .box = { BOX_NO_DESCRIPTORS },
			  .door = fd,
			  .cgroup = CGROUP_NONE,
			  .client = -1,
			  .signals = -1,
			  .watch = -1,
			  .report = -1,
			  .listener = listener };
	struct hb_error local = { 0 };
	int r;

	if (!err)
		err = &local;
	j.box.plan = &j.plan;
	plan_init(&j.plan);
	r = prepare(&j, argv, envp, err);
	if (r >= 0 && tty)
		plan_set_tty(&j.plan, tty);
	if (r >= 0)
		r = run(&j, err);
	close_received(&j);
	box_lists_free(&j.box);
	free(j.inside);
	plan_done(&j.plan);
	if (r < 0)
		return stage_fail(err, r);
	(void)report_send(listener, &(struct hb_report){
					    .kind = HB_REPORT_ENDED,
					    .n = (uint64_t)j.result.status });
	*ret_result = j.result;
	return 0;
}
