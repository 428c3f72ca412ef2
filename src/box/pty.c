/* SPDX-License-Identifier: Apache-2.0 */
#include "box/pty.h"

#include "base/auto.h"
#include "base/error.h"
#include "box/job_signals.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The command's terminal
 * ----------------------
 *
 *	(a) Nothing in the box holds the user's terminal: not as 0, 1 or 2, not
 *	    as the controlling one, not by a name.
 *	(b) A key reaches the command only by way of pty_serve(), and that reads
 *	    none unless our group is in front and the command has asked.
 *	(c) The loop that serves it waits for neither side: both descriptors do
 *	    not block, and what one side does not take is not read from the
 *	    other.
 *	(d) The user's terminal is put back before anybody else uses it: before
 *	    we stop, and at the end.  Only SIGKILL of ourselves leaves it raw;
 *	    shells with job control set their own modes after a job that was
 *	    killed.
 *
 * While the user's terminal is not raw it translates line ends.  So a command
 * that begins then has a terminal that does not.
 *
 * tests/box/own-terminal.py
 */

/* What was written at the end and is still on its way. */
#define LAST_BYTES_MS 100
/* A process that stays behind in a box that was joined could write forever. */
#define LAST_MS 2000
/* How often output is passed on before anything else is looked at. */
#define RELAY_TIMES 16
/* What a terminal has to answer a question of ours, as others before it. */
#define ANSWER_MS  100
#define ASK_DEVICE "\033[c"

static int open_user(struct pty *p)
{
	const int flags = O_RDWR | O_NOCTTY | O_NONBLOCK;
	char link[32];
	int fd = 0;

	p->user = sys_openat(AT_FDCWD, "/dev/tty", flags, 0);
	p->has_jobs = p->user >= 0;
	if (p->user >= 0)
		return 0;
	while (fd <= STDERR_FILENO && !sys_isatty(fd))
		fd++;
	if (fd > STDERR_FILENO)
		return -ENOTTY;
	/* Our own description of it: that it does not block is for us alone. */
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	p->user = sys_openat(AT_FDCWD, link, flags, 0);
	if (p->user < 0) {
		p->user = fd;
		p->is_borrowed = true;
	}
	return 0;
}

/* Whether the new terminal turns line ends into what a terminal needs. */
static void set_plain(struct pty *p, bool is_plain)
{
	struct termios modes;

	if (p->is_plain == is_plain || p->master < 0 ||
	    sys_tcgetattr(p->master, &modes) < 0)
		return;
	if (is_plain)
		modes.c_oflag &= ~(tcflag_t)OPOST;
	else if (p->has_modes)
		modes.c_oflag |= p->modes.c_oflag & OPOST;
	else
		modes = p->modes;
	if (sys_tcsetattr_now(p->master, &modes) >= 0)
		p->is_plain = is_plain;
	p->has_modes = true;
}

static int make_terminal(struct pty *p)
{
	int r;

	r = p->master = sys_open_terminal(&p->peer);
	if (r >= 0)
		r = sys_tcgetattr(p->user, &p->modes);
	if (r >= 0)
		r = sys_tcsetattr_now(p->peer, &p->modes);
	if (r >= 0)
		r = sys_copy_tty_size(p->user, p->peer);
	return r;
}

void pty_done(struct pty *p)
{
	sys_close(p->peer);
	sys_close(p->master);
	if (!p->is_borrowed)
		sys_close(p->user);
	free(p);
}

int pty_make(bool may_copy, struct pty **ret_pty, struct hb_error *err)
{
	struct pty *p = calloc(1, sizeof(*p));
	int r;

	*ret_pty = NULL;
	if (!p)
		return hb_fail(err, -ENOMEM, "cannot make a terminal");
	p->user = p->master = p->peer = -1;
	screen_filter_init(&p->filter, p->held,
			   may_copy ? sizeof(p->held) : SCREEN_HELD_MAX,
			   may_copy);
	if (open_user(p) < 0) {
		free(p);
		return 0;
	}
	p->own = sys_getpgrp();
	p->is_whole = true;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		p->is_whole = p->is_whole && sys_isatty(fd);
	p->is_asked = p->is_whole;
	r = make_terminal(p);
	if (r < 0) {
		pty_done(p);
		hb_fix(err, "--tty real, with which the command has your own");
		return hb_fail(err, r, "cannot make a terminal");
	}
	(void)pty_look(p);
	if (!p->is_raw)
		set_plain(p, true);
	/* At a prompt its modes are those of the shell's line editor. */
	p->has_modes = p->is_front;
	*ret_pty = p;
	return 0;
}

int pty_move_in(int peer)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int r = sys_isatty(fd) ? sys_dup_to(peer, fd) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

void pty_moved(struct pty *p)
{
	fd_closep(&p->peer);
}

/* (d) */
static void restore(struct pty *p)
{
	if (p->is_raw)
		(void)sys_tcsetattr_now(p->user, &p->modes);
	p->is_raw = false;
}

static bool is_same(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag &&
	       a->c_cflag == b->c_cflag && a->c_lflag == b->c_lflag;
}

static void go_raw(struct pty *p)
{
	struct termios now;

	if (p->is_raw || p->is_gone || sys_tcgetattr(p->user, &now) < 0)
		return;
	/* Those that we set ourselves are not what to put back. */
	if (!is_same(&now, &p->raw))
		p->modes = now;
	p->raw = p->modes;
	cfmakeraw(&p->raw);
	p->is_raw = sys_tcsetattr_now(p->user, &p->raw) >= 0;
	if (p->is_raw)
		set_plain(p, false);
}

static bool is_in_front(const struct pty *p)
{
	return !p->has_jobs || sys_tcgetpgrp(p->user) == p->own;
}

bool pty_look(struct pty *p)
{
	p->is_front = is_in_front(p);
	if (p->is_front)
		p->is_held = false;
	if (p->is_front && p->is_asked)
		go_raw(p);
	return p->is_raw;
}

bool pty_awaits_front(const struct pty *p)
{
	return !p->is_gone && !p->is_front && (p->is_asked || p->is_held);
}

void pty_ask(struct pty *p)
{
	p->is_asked = true;
	(void)pty_look(p);
}

/* No user sees it any more, and the command is told as by any terminal. */
static void hang_up(struct pty *p)
{
	p->is_gone = true;
	p->is_raw = false;
	fd_closep(&p->master);
}

void pty_wants(const struct pty *p, struct pollfd fds[PTY_FDS])
{
	short user = 0, master = 0;

	if (p->is_raw && p->n_typed == 0)
		user |= POLLIN;
	if (p->n_shown > 0 && !p->is_held)
		user |= POLLOUT;
	if (p->n_shown == 0)
		master |= POLLIN;
	if (p->n_typed > 0)
		master |= POLLOUT;
	fds[0] = (struct pollfd){ p->is_gone ? -1 : p->user, user, 0 };
	fds[1] = (struct pollfd){ master ? p->master : -1, master, 0 };
}

/* Reads keys; (b) */
static void take_in(struct pty *p)
{
	ssize_t n;

	if (!p->is_raw || p->n_typed > 0)
		return;
	if (!is_in_front(p)) {
		/* It was taken from us: its modes are for others to set. */
		p->is_raw = p->is_front = false;
		return;
	}
	n = sys_read(p->user, p->typed, sizeof(p->typed));
	if (n > 0)
		p->n_typed = (size_t)n;
	else if (n != -EAGAIN && n != -EINTR)
		hang_up(p);
}

/* Our group is in front of the user's terminal, and the key was for it too. */
static void note_signal(struct pty *p, const struct termios *modes, size_t n)
{
	for (size_t i = 0; i < n && modes->c_lflag & ISIG; i++) {
		cc_t key = (cc_t)p->typed[i];

		if (key != _POSIX_VDISABLE && key == modes->c_cc[VINTR])
			p->typed_signal = SIGINT;
		if (key != _POSIX_VDISABLE && key == modes->c_cc[VQUIT])
			p->typed_signal = SIGQUIT;
	}
}

static void pass_in(struct pty *p)
{
	struct termios modes = { 0 };
	pid_t front;
	ssize_t n;

	if (p->n_typed == 0 || p->master < 0)
		return;
	/*
	 * On its way to the front: until then ^C and ^Z would reach no process.
	 */
	front = sys_tcgetpgrp(p->master);
	if (front > 0 && front == sys_tcgetsid(p->master))
		return;
	/* Before the keys: a program that they wake may set others. */
	(void)sys_tcgetattr(p->master, &modes);
	n = sys_write_some(p->master, p->typed, p->n_typed);
	if (n <= 0)
		return;
	note_signal(p, &modes, (size_t)n);
	p->n_typed -= (size_t)n;
	memmove(p->typed, p->typed + n, p->n_typed);
}

/* 1: there was something; 0: not now; <0: no more. */
static int take_out(struct pty *p)
{
	ssize_t n;

	if (p->master < 0)
		return -EIO;
	if (p->n_shown > 0)
		return 0;
	n = sys_read(p->master, p->taken, sizeof(p->taken));
	if (n == -EAGAIN)
		return 0;
	if (n <= 0)
		return n < 0 ? (int)n : -EIO;
	/* An answer goes to the reader of the user's terminal. */
	p->filter.is_silent = !p->is_raw;
	p->n_shown = screen_filter(&p->filter, p->taken, (size_t)n, p->shown);
	return 1;
}

/* stty tostop: who writes from the background is stopped. */
static bool may_show(struct pty *p)
{
	struct termios now;

	if (p->is_raw || p->is_gone || is_in_front(p) ||
	    sys_tcgetattr(p->user, &now) < 0 || !(now.c_lflag & TOSTOP))
		return true;
	p->is_front = false;
	p->is_held = p->is_refused = true;
	return false;
}

bool pty_refused(struct pty *p)
{
	bool was = p->is_refused;

	p->is_refused = false;
	return was;
}

static void pass_out(struct pty *p)
{
	ssize_t n;

	if (p->n_shown == 0 || p->is_held || !may_show(p))
		return;
	n = p->is_gone ? (ssize_t)(p->n_shown - p->at_shown)
		       : sys_write_some(p->user, p->shown + p->at_shown,
					p->n_shown - p->at_shown);
	if (n == -EAGAIN || n == -EINTR)
		return;
	/* What cannot be shown is not kept for anybody. */
	p->at_shown = n < 0 ? p->n_shown : p->at_shown + (size_t)n;
	if (p->at_shown == p->n_shown)
		p->at_shown = p->n_shown = 0;
}

/*
 * More has mostly come while we wrote.  Not for long: keys and signals wait.
 */
static void relay_out(struct pty *p)
{
	int r = 1;

	for (int i = 0; r > 0 && p->n_shown == 0 && i < RELAY_TIMES; i++) {
		r = take_out(p);
		if (r > 0)
			pass_out(p);
	}
	/* No user works at it any more: the end is near. */
	if (r < 0 && p->n_shown == 0)
		fd_closep(&p->master);
}

void pty_serve(struct pty *p, const struct pollfd fds[PTY_FDS])
{
	if (fds[0].fd >= 0 && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
		hang_up(p);
		return;
	}
	if (fds[0].revents & POLLIN)
		take_in(p);
	pass_in(p);
	if (p->n_shown > 0)
		pass_out(p);
	if (fds[1].revents & (POLLIN | POLLHUP | POLLERR))
		relay_out(p);
}

/* Where in CSI ? ... c, which is the answer to ASK_DEVICE. */
static int next_of_answer(int at, char c)
{
	if (c == '\033')
		return 1;
	if (at == 1 && c == '[')
		return 2;
	if (at == 2 && c == '?')
		return 3;
	if (at == 3 && (c == ';' || (c >= '0' && c <= '9')))
		return 3;
	return at == 3 && c == 'c' ? 4 : 0;
}

/*
 * Answers to what the command has asked must not be typed into the shell.  They
 * come in order, so that all are there when ours is.
 */
static void swallow_answers(struct pty *p)
{
	int64_t end = sys_now_ms() + ANSWER_MS, now;
	struct pollfd fd = { p->user, POLLIN, 0 };
	char bytes[256];
	int at = 0;

	if (!p->filter.has_asked || !p->is_raw || !is_in_front(p) ||
	    sys_write_some(p->user, ASK_DEVICE, sizeof(ASK_DEVICE) - 1) < 0)
		return;
	p->filter.has_asked = false;
	while (at < 4 && (now = sys_now_ms()) < end &&
	       sys_poll(&fd, 1, (int)(end - now)) > 0) {
		ssize_t n = sys_read(p->user, bytes, sizeof(bytes));

		if (n <= 0)
			break;
		for (ssize_t i = 0; at < 4 && i < n; i++)
			at = next_of_answer(at, bytes[i]);
	}
	sys_forget_typed(p->user);
}

void pty_leave(struct pty *p)
{
	while (take_out(p) > 0) {
		pass_out(p);
		if (p->n_shown > 0)
			break;
	}
	swallow_answers(p);
	restore(p);
}

void pty_return(struct pty *p)
{
	p->is_raw = false;
	(void)pty_look(p);
	pty_resize(p);
}

void pty_resize(struct pty *p)
{
	if (p->master >= 0 && !p->is_gone)
		(void)sys_copy_tty_size(p->user, p->master);
}

/* Whether a signal that asks for an end has come. */
static bool is_told_to_end(int signals)
{
	struct sys_signal signal;

	while (signals >= 0 && sys_signalfd_next(signals, &signal) > 0)
		if (job_signal_ends(signal.number))
			return true;
	return false;
}

/* Shows what is there, as slow as it goes.  False: no more of it. */
static bool show(struct pty *p, int signals)
{
	while (p->n_shown > 0) {
		struct pollfd fds[2] = { { p->user, POLLOUT, 0 },
					 { signals, POLLIN, 0 } };

		pass_out(p);
		if (p->n_shown == 0)
			break;
		if (sys_poll(fds, 2, -1) < 0 || is_told_to_end(signals) ||
		    fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return false;
	}
	return true;
}

static void show_rest(struct pty *p, int signals)
{
	int64_t end = sys_now_ms() + LAST_MS;
	struct pollfd fd = { p->master, POLLIN, 0 };

	p->is_held = false;
	while (show(p, signals) && p->master >= 0 && sys_now_ms() < end &&
	       sys_poll(&fd, 1, LAST_BYTES_MS) > 0)
		if (take_out(p) < 0)
			break;
}

/* From the background it would be another job's screen. */
static void tidy_up(struct pty *p, int signals)
{
	if (p->is_gone || !is_in_front(p))
		return;
	p->at_shown = 0;
	p->n_shown = screen_filter_end(&p->filter, p->shown);
	(void)show(p, signals);
	swallow_answers(p);
}

void pty_end(struct pty *p, int signals)
{
	show_rest(p, signals);
	tidy_up(p, signals);
	restore(p);
}
