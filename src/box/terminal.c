/* SPDX-License-Identifier: Apache-2.0 */
#include "box/terminal.h"

#include "box/job_signals.h"
#include "box/lead.h"
#include "box/pty.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <signal.h>

/*
 * The rules, each found by a failure; tests/box/terminal.py holds them.
 *
 *	1. What was sent to our whole group, by the terminal or by a member, has
 *	   reached a command in that group already and is not passed on.  A
 *	   parent in our group means us alone: so scripts stop what they start.
 *	2. With a group of its own for the command, a signal of the terminal
 *	   reaching us means that the shell put us in front without a word (fg
 *	   of a running job): the command goes in front and gets it.
 *	3. The terminal is touched only while we are the foreground job, or a
 *	   background job steals the user's prompt.
 *	4. A stop of the command for want of the terminal, while we are in
 *	   front, is answered by giving it the terminal.  Any other stop stops
 *	   us too, by the same signal.
 *	5. After a continue, what is pending is passed on before SIGCONT, or a
 *	   stopped job that is killed stops again before it hears.
 *	6. News of a stop may be older than a continue of the whole job: who is
 *	   not stopped any more does not stop us, or we would stand still alone.
 *	   (A command with a terminal of its own is in no group of ours: every
 *	   signal is passed on, and 1 to 4 are for the user's terminal alone.)
 *	7. What would end the command and comes before it has started is passed
 *	   on when it has, or an early kill is lost.
 */

static void init_real(struct terminal *t)
{
	bool is_ours = true;

	for (int fd = 0; fd < 3; fd++)
		is_ours = is_ours && sys_is_controlling_tty(fd);
	if (!is_ours)
		return;
	t->fd = 0;
	t->group = GROUP_OWN;
	t->is_foreground = sys_tcgetpgrp(t->fd) == t->own;
	if (t->is_foreground)
		t->has_modes = sys_tcgetattr(t->fd, &t->modes) >= 0;
}

int terminal_init(struct terminal *t, struct box *box, const int *lead,
		  struct hb_error *err)
{
	int r = 0;

	*t = (struct terminal){ .fd = -1, .group = GROUP_SHARED, .lead = lead };
	t->own = sys_getpgrp();
	if (box->plan->argv && !is_set(box, PLAN_TTY_REAL))
		r = pty_make(is_set(box, PLAN_CLIPBOARD), &t->pty, err);
	else if (box->plan->argv)
		init_real(t);
	if (r < 0)
		return r;
	if (t->pty) {
		t->group = GROUP_OWN;
		box->peer = t->pty->peer;
	}
	box->group = t->group;
	box->tty = t->pty ? t->pty->peer : t->fd;
	box->is_foreground = t->pty ? t->pty->is_raw : t->is_foreground;
	return 0;
}

void terminal_moved(struct terminal *t)
{
	if (t->pty)
		pty_moved(t->pty);
}

void terminal_pass_on(const struct terminal *t, int sig)
{
	if (t->command <= 0)
		return;
	(void)sys_kill(t->group == GROUP_OWN ? -t->command : t->command, sig);
}

void terminal_started(struct terminal *t, pid_t command)
{
	t->command = command;
	t->front = command;
	for (int sig = 1; t->early >> sig; sig++)
		if (t->early >> sig & 1)
			terminal_pass_on(t, sig);
	t->early = 0;
}

/* Not the stops: the command cannot stop before it is one. */
static void keep_early(struct terminal *t, int sig)
{
	if (job_signal_ends(sig) || sig == SIGUSR1 || sig == SIGUSR2)
		t->early |= 1ULL << sig;
}

/* Whether a process may have sent to all of our group, the command included. */
static bool is_for_all(const struct terminal *t, pid_t from)
{
	return t->group == GROUP_SHARED && from != 0 && from != sys_getppid() &&
	       sys_getpgid(from) == t->own;
}

/* Whether the terminal thinks that we are in front. */
static bool is_in_front(const struct terminal *t)
{
	return t->fd >= 0 && sys_tcgetpgrp(t->fd) == t->own;
}

/* A signal let us go on: our picture of the terminal is out of date. */
static void come_back(struct terminal *t)
{
	bool was_raw = t->pty->is_raw;

	pty_return(t->pty);
	if (t->pty->is_raw && !was_raw)
		lead_tell(*t->lead, LEAD_FRONT);
}

/* Whether the signal is about the user's terminal and not for the command. */
static bool is_for_relay(struct terminal *t, int sig)
{
	if (sig == SIGCONT)
		come_back(t);
	if (sig == SIGWINCH)
		pty_resize(t->pty);
	/* The kernel tells the group that is in front of the other one. */
	return sig == SIGCONT || (sig == SIGWINCH && t->pty->is_raw);
}

void terminal_signal(struct terminal *t, const struct sys_signal *signal)
{
	if (signal->number == SIGCHLD)
		return;
	if (t->pty && is_for_relay(t, signal->number))
		return;
	if (signal->number == SIGCONT)
		return;
	if (t->command <= 0) {
		keep_early(t, signal->number);
		return;
	}
	if (signal->code == SI_USER || signal->code == SI_QUEUE) {
		t->sent_signal = signal->number;
		if (!is_for_all(t, signal->from))
			terminal_pass_on(t, signal->number);
		return;
	}
	if (t->group != GROUP_OWN)
		return;
	if (!t->pty && is_in_front(t)) {
		t->is_foreground = true;
		(void)sys_tcsetpgrp(t->fd, t->command);
	}
	terminal_pass_on(t, signal->number);
}

/* It was given the terminal after it had stopped for want of it. */
static bool has_terminal(const struct terminal *t)
{
	return t->fd >= 0 && t->is_foreground &&
	       sys_tcgetpgrp(t->fd) == t->command;
}

static void take_terminal_back(struct terminal *t)
{
	if (!t->is_foreground)
		return;
	t->front = sys_tcgetpgrp(t->fd);
	t->has_modes = sys_tcgetattr(t->fd, &t->modes) >= 0;
	(void)sys_tcsetpgrp(t->fd, t->own);
}

static void give_terminal(struct terminal *t)
{
	t->is_foreground = is_in_front(t);
	if (!t->is_foreground)
		return;
	/* An inner shell may have had one of its own jobs in front. */
	if (t->front <= 0 || sys_tcsetpgrp(t->fd, t->front) < 0)
		(void)sys_tcsetpgrp(t->fd, t->command);
	if (t->has_modes)
		(void)sys_tcsetattr(t->fd, &t->modes);
}

/* Passes on what has arrived; true if a ^Z was among it. */
static bool take_pending(struct terminal *t, int signals)
{
	struct sys_signal pending;
	bool is_stopping = false;

	while (sys_signalfd_next(signals, &pending) > 0) {
		is_stopping |= pending.number == SIGTSTP;
		terminal_signal(t, &pending);
	}
	return is_stopping;
}

/*
 * Whether no process would wake us from a stop.  The kernel then does not stop
 * us, and a command that wants the terminal would ask again and again.
 */
static bool is_orphaned(const struct terminal *t)
{
	pid_t parent = sys_getppid();

	return sys_getpgid(parent) == t->own ||
	       sys_getsid(parent) != sys_getsid(0);
}

static void stopped_at_pty(struct terminal *t, int sig, int signals)
{
	bool wants_terminal = sig == SIGTTIN || sig == SIGTTOU;

	if (wants_terminal && !t->pty->is_held) {
		pty_ask(t->pty);
		if (t->pty->is_raw || is_orphaned(t)) {
			lead_tell(*t->lead, LEAD_FRONT);
			return;
		}
	}
	if (!sys_is_stopped(t->command))
		return;
	if (wants_terminal)
		lead_tell(*t->lead, LEAD_HALT);
	pty_leave(t->pty);
	(void)sys_raise_default(sig);
	pty_return(t->pty);
	(void)take_pending(t, signals);
	lead_tell(*t->lead, t->pty->is_raw ? LEAD_FRONT : LEAD_BEHIND);
}

void terminal_leave(struct terminal *t)
{
	if (t->pty) {
		t->was_raw = t->pty->is_raw;
		pty_leave(t->pty);
	} else if (t->group == GROUP_OWN) {
		take_terminal_back(t);
	}
}

void terminal_return(struct terminal *t)
{
	if (!t->pty && t->group == GROUP_OWN)
		give_terminal(t);
	if (!t->pty)
		return;
	pty_return(t->pty);
	if (t->pty->is_raw && !t->was_raw)
		lead_tell(*t->lead, LEAD_FRONT);
}

void terminal_serve(struct terminal *t, const struct pollfd *fds)
{
	pty_serve(t->pty, fds);
	if (pty_refused(t->pty))
		terminal_pass_on(t, SIGTTOU);
}

void terminal_look(struct terminal *t)
{
	if (pty_look(t->pty))
		lead_tell(*t->lead, LEAD_FRONT);
}

void terminal_stopped(struct terminal *t, int sig, int signals)
{
	bool is_stopping;

	if (t->pty) {
		stopped_at_pty(t, sig, signals);
		return;
	}
	if (t->group == GROUP_OWN && (sig == SIGTTIN || sig == SIGTTOU) &&
	    (is_in_front(t) || has_terminal(t))) {
		t->is_foreground = true;
		(void)sys_tcsetpgrp(t->fd, t->command);
		terminal_pass_on(t, SIGCONT);
		return;
	}
	if (!sys_is_stopped(t->command))
		return;
	take_terminal_back(t);
	(void)sys_raise_default(sig);
	if (t->group == GROUP_OWN)
		give_terminal(t);
	is_stopping = take_pending(t, signals);
	if (t->group == GROUP_OWN) {
		terminal_pass_on(t, SIGCONT);
		return;
	}
	/*
	 * In one group the shell's SIGCONT was for all of us.  One more may
	 * come too late and undo the next ^Z, which is then repeated.
	 */
	if (is_stopping || !sys_is_stopped(t->command))
		return;
	terminal_pass_on(t, SIGCONT);
	if (take_pending(t, signals))
		terminal_pass_on(t, SIGTSTP);
}

/*
 * A key at the user's own terminal reaches the group that is in front, and the
 * kernel tells no other process.  A command in front may have died of the
 * signal of a key.  Then a key is taken to have sent it, unless we passed it
 * on.
 */
bool terminal_typed(const struct terminal *t, int sig)
{
	bool is_key = sig == SIGINT || sig == SIGQUIT;

	return sig != 0 && (t->typed_signal == sig ||
			    (is_key && t->had_keys && t->sent_signal != sig));
}

void terminal_done(struct terminal *t, int signals)
{
	if (t->pty) {
		pty_end(t->pty, signals);
		t->typed_signal = t->pty->typed_signal;
		/* Only now: the last bytes may be the ones that ask for it. */
		if (t->pty->filter.has_copied)
			t->clipboard = BOX_CLIPBOARD_SET;
		if (t->pty->filter.has_no_copied)
			t->clipboard = BOX_CLIPBOARD_REFUSED;
		pty_done(t->pty);
		t->pty = NULL;
	}
	if (t->fd < 0 || !t->is_foreground)
		return;
	t->had_keys = sys_tcgetpgrp(t->fd) != t->own;
	if (t->had_keys)
		(void)sys_tcsetpgrp(t->fd, t->own);
}

void terminal_forget(struct terminal *t)
{
	if (t->pty)
		pty_done(t->pty);
	t->pty = NULL;
	t->fd = -1;
	t->command = 0;
	t->is_foreground = false;
}
