/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A terminal between the user's and the command's.
 *
 * Who was called becomes the relay, by executing another program, so that it
 * holds nothing but the two terminals.  A child leads the session of the new
 * one, and its child goes on with the run: the kernel stops nobody by ^Z who
 * leads a session, for want of a shell to wake him.  What the command does to
 * its own terminal ends there.
 */

/* What was written at the end and is still on its way. */
#define LAST_BYTES_MS 200
/* Who stays behind in a box that was joined could write forever. */
#define LAST_MS 2000

/* The leader listens to those that are passed on, the relay to all. */
static const int passed_on[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };
static const int shown[] = { SIGWINCH, SIGCONT };

static int open_signals(bool is_relay)
{
	sigset_t set;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		(void)sigaddset(&set, passed_on[i]);
	for (size_t i = 0; is_relay && i < sizeof(shown) / sizeof(shown[0]);
	     i++)
		(void)sigaddset(&set, shown[i]);
	r = sys_block_signals(&set, NULL);
	return r < 0 ? r : sys_signalfd(&set);
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : HB_EXIT_SIGNAL + WTERMSIG(status);
}

static bool has_terminal(void)
{
	return sys_isatty(STDIN_FILENO) || sys_isatty(STDOUT_FILENO) ||
	       sys_isatty(STDERR_FILENO);
}

/* A process that goes when its parent does: 0 in it, its pid in the parent. */
static pid_t bound_child(void)
{
	pid_t parent = sys_getpid();
	pid_t pid = sys_clone(0, NULL);

	if (pid != 0)
		return pid;
	if (sys_set_parent_death_signal(SIGKILL) < 0 || sys_getppid() != parent)
		sys_exit(HB_EXIT_OURS);
	return 0;
}

/* Ends with `child`, stops with it, and passes signals on to it. */
static _Noreturn void lead(pid_t child)
{
	int signals = open_signals(false);
	struct pollfd fd = { signals, POLLIN, 0 };

	for (;;) {
		struct sys_signal signal;
		int status;

		if (sys_waitpid(child, &status, WNOHANG | WUNTRACED) == child) {
			if (!WIFSTOPPED(status))
				sys_exit(exit_status(status));
			(void)sys_raise_default(SIGSTOP);
			(void)sys_kill(child, SIGCONT);
			continue;
		}
		(void)sys_poll(&fd, 1, -1);
		if (sys_signalfd_next(signals, &signal) > 0 &&
		    signal.number != SIGCHLD)
			(void)sys_kill(child, signal.number);
	}
}

/* The terminal is for our group now; who asks for it from behind is stopped. */
static int take_front(int terminal)
{
	sigset_t set, old;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTTOU);
	r = sys_block_signals(&set, &old);
	if (r < 0)
		return r;
	r = sys_tcsetpgrp(terminal, sys_getpgrp());
	(void)sys_restore_signals(&old);
	return r;
}

/* In the child of the relay: `peer` in the place of the user's. */
static int move_in(int peer)
{
	pid_t pid;
	int r;

	r = sys_work_at_terminal(peer);
	for (int fd = STDIN_FILENO; r >= 0 && fd <= STDERR_FILENO; fd++)
		if (sys_isatty(fd))
			r = sys_dup_to(peer, fd);
	if (r < 0)
		return r;
	pid = bound_child();
	if (pid < 0)
		return (int)pid;
	if (pid > 0) {
		/* What the run has open must not stay so with us. */
		(void)sys_close_range(STDERR_FILENO + 1, UINT_MAX);
		lead(pid);
	}
	r = sys_setpgid(0, 0);
	return r < 0 ? r : take_front(peer);
}

static int become_relay(int terminal, pid_t pid, char *const envp[],
			struct hb_error *err)
{
	static char name[] = "holdback", command[] = "relay";
	char fd_word[16], pid_word[16];
	char *argv[] = { name, command, fd_word, pid_word, NULL };
	int r;

	(void)snprintf(fd_word, sizeof(fd_word), "%d", terminal);
	(void)snprintf(pid_word, sizeof(pid_word), "%d", (int)pid);
	r = sys_set_cloexec(terminal, 0);
	if (r >= 0)
		r = hb_exec_helper("commands", argv, envp, err);
	else
		r = hb_fail(err, r, "cannot give a terminal on");
	sys_kill_and_reap(pid);
	return r;
}

int hb_own_terminal(char *const envp[], struct hb_error *err)
{
	auto_fd int terminal = -1, peer = -1, user = -1;
	struct termios modes;
	pid_t pid;
	int r;

	/* Who has none of it as 0, 1 and 2 still could open it by its name. */
	user = sys_openat(AT_FDCWD, "/dev/tty", O_RDWR | O_NOCTTY, 0);
	if (user < 0 && !has_terminal())
		return 0;
	if (user < 0)
		return hb_fail(err, user, "cannot open the terminal");
	terminal = sys_open_terminal(&peer);
	r = terminal < 0 ? terminal : sys_tcgetattr(user, &modes);
	if (r >= 0)
		r = sys_tcsetattr(peer, &modes);
	if (r >= 0)
		r = sys_copy_tty_size(user, peer);
	if (r < 0)
		return hb_fail(err, r, "cannot make a terminal");
	pid = bound_child();
	if (pid > 0)
		return become_relay(terminal, pid, envp, err);
	r = pid < 0 ? (int)pid : move_in(peer);
	return r < 0 ? hb_fail(err, r, "cannot work at a terminal") : 0;
}

struct relay {
	int user;     /* his terminal */
	int terminal; /* ours, seen from outside; does not block */
	int signals;
	pid_t pid;
	bool is_raw;
	bool has_input;	      /* there is more to be had of the user */
	struct termios modes; /* of the user's terminal */
	char typed[4096];     /* on its way in */
	size_t n_typed;
};

/* In the background the terminal is somebody else's. */
static void go_raw(struct relay *relay)
{
	struct termios raw;

	relay->has_input = sys_tcgetpgrp(relay->user) == sys_getpgrp();
	if (!relay->has_input || relay->is_raw ||
	    sys_tcgetattr(relay->user, &relay->modes) < 0)
		return;
	raw = relay->modes;
	cfmakeraw(&raw);
	relay->is_raw = sys_tcsetattr(relay->user, &raw) >= 0;
}

static void restore(struct relay *relay)
{
	if (relay->is_raw)
		(void)sys_tcsetattr(relay->user, &relay->modes);
	relay->is_raw = false;
}

/* 1: there was something; 0: not now; <0: no more. */
static int pass_out(struct relay *relay)
{
	char bytes[4096];
	ssize_t n;

	n = sys_read(relay->terminal, bytes, sizeof(bytes));
	if (n == -EAGAIN)
		return 0;
	if (n <= 0)
		return n < 0 ? (int)n : -EIO;
	(void)sys_write_all(relay->user, bytes, (size_t)n);
	return 1;
}

static void take_in(struct relay *relay)
{
	ssize_t n;

	n = sys_read(relay->user, relay->typed, sizeof(relay->typed));
	if (n > 0)
		relay->n_typed = (size_t)n;
	else if (n != -EAGAIN && n != -EINTR)
		relay->has_input = false;
}

static void pass_in(struct relay *relay)
{
	ssize_t n;

	n = sys_write_some(relay->terminal, relay->typed, relay->n_typed);
	if (n <= 0)
		return;
	relay->n_typed -= (size_t)n;
	memmove(relay->typed, relay->typed + n, relay->n_typed);
}

/* The child has stopped: so do we, and the user's shell takes over. */
static void stop(struct relay *relay)
{
	while (pass_out(relay) > 0)
		;
	restore(relay);
	(void)sys_raise_default(SIGTSTP);
	go_raw(relay);
	(void)sys_copy_tty_size(relay->user, relay->terminal);
	(void)sys_kill(relay->pid, SIGCONT);
}

/* Whether the child has ended, with *ret_status. */
static bool look(struct relay *relay, int *ret_status)
{
	int status;

	while (sys_waitpid(relay->pid, &status, WNOHANG | WUNTRACED) ==
	       relay->pid) {
		if (!WIFSTOPPED(status)) {
			*ret_status = status;
			return true;
		}
		stop(relay);
	}
	return false;
}

/* Whether the child has ended. */
static bool hear(struct relay *relay, int *ret_status)
{
	struct sys_signal signal;
	bool has_ended = false;

	while (sys_signalfd_next(relay->signals, &signal) > 0) {
		switch (signal.number) {
		case SIGCHLD:
			has_ended = has_ended || look(relay, ret_status);
			break;
		case SIGWINCH:
			(void)sys_copy_tty_size(relay->user, relay->terminal);
			break;
		case SIGCONT:
			relay->is_raw = false;
			go_raw(relay);
			break;
		default:
			(void)sys_kill(relay->pid, signal.number);
			(void)sys_kill(relay->pid, SIGCONT);
		}
	}
	return has_ended;
}

static void pass_on(struct relay *relay, int *ret_status)
{
	enum {
		USER,
		TERMINAL,
		SIGNALS,
		N
	};
	bool has_ended = false;

	while (!has_ended) {
		bool takes = relay->has_input && relay->n_typed == 0;
		struct pollfd fds[N] = {
			[USER] = { takes ? relay->user : -1, POLLIN, 0 },
			[TERMINAL] = { relay->terminal, POLLIN, 0 },
			[SIGNALS] = { relay->signals, POLLIN, 0 },
		};

		if (relay->n_typed > 0)
			fds[TERMINAL].events |= POLLOUT;
		if (sys_poll(fds, N, -1) < 0)
			continue;
		if (fds[SIGNALS].revents)
			has_ended = hear(relay, ret_status);
		if (fds[USER].revents)
			take_in(relay);
		if (relay->n_typed > 0)
			pass_in(relay);
		/* Nobody works at it any more: the end is near. */
		if (fds[TERMINAL].revents && pass_out(relay) < 0)
			sys_pause(1);
	}
}

static void pass_rest(struct relay *relay)
{
	struct pollfd fd = { relay->terminal, POLLIN, 0 };
	int64_t end = sys_now_ms() + LAST_MS;

	while (sys_now_ms() < end && sys_poll(&fd, 1, LAST_BYTES_MS) > 0 &&
	       pass_out(relay) >= 0)
		;
}

static int set_up(struct relay *relay, struct hb_error *err)
{
	int r;

	r = relay->signals = open_signals(true);
	if (r >= 0)
		r = relay->user =
			sys_openat(AT_FDCWD, "/dev/tty", O_RDWR | O_NOCTTY, 0);
	return r < 0 ? hb_fail(err, r, "cannot relay the terminal") : 0;
}

int hb_relay(int terminal, pid_t pid, int *ret_status, struct hb_error *err)
{
	struct relay relay = {
		.user = -1, .terminal = terminal, .signals = -1, .pid = pid
	};
	int status = 0;
	int r;

	r = set_up(&relay, err);
	if (r >= 0) {
		go_raw(&relay);
		(void)sys_copy_tty_size(relay.user, relay.terminal);
		/* What happened before we listened was not told. */
		if (!look(&relay, &status))
			pass_on(&relay, &status);
		pass_rest(&relay);
		restore(&relay);
		*ret_status = exit_status(status);
	} else {
		sys_kill_and_reap(pid);
	}
	sys_close(relay.signals);
	sys_close(relay.user);
	return r;
}
