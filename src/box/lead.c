/* SPDX-License-Identifier: Apache-2.0 */
#include "box/lead.h"

#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <signal.h>

/*
 * A stop of the command is a stop of its whole box: processes in other groups
 * and sessions would go on behind the user's back.  Only processes that ran are
 * woken again.  Processes at the terminal of a command that joined are left
 * alone: they have their own user.
 */

/* A process that is forked meanwhile is found by the next look. */
#define LOOKS 8

/* Milliseconds for the stops of all processes together. */
#define PATIENCE 200

void lead_init(struct lead *l, int tty, pid_t command, bool has_box)
{
	l->tty = tty;
	l->command = command;
	l->front = command;
	l->has_box = has_box;
}

static bool is_halted(const struct lead_halt *h, pid_t pid)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->pids[i] == pid)
			return true;
	return false;
}

/*
 * A parent that waits for its child sees the child's stop if it stops later
 * itself, however much earlier it was told to.  So the child's turn comes when
 * the parent has stopped.  A process in the middle of a system call may take
 * its time: `*patience` milliseconds are for all of them.
 */
static void await_stop(pid_t pid, int *patience)
{
	while (!sys_has_stopped(pid) && *patience > 0) {
		(void)sys_poll(NULL, 0, 1);
		--*patience;
	}
}

static bool has_child(const struct sys_process *found, int n, pid_t pid)
{
	for (int i = 0; i < n; i++)
		if (found[i].parent == pid)
			return true;
	return false;
}

/*
 * How many were stopped by one look; <0: there is no telling.  `all`: also the
 * processes of a command that joined.  `again`: once more those that were
 * stopped before and were woken since.  Only the first of several looks does
 * that, or a command that ^C woke to end would be stopped in the middle of it.
 */
static int halt_once(struct lead_halt *h, bool all, bool again, int *patience)
{
	struct sys_process found[LEAD_HALTED_MAX];
	int n = sys_processes(found, LEAD_HALTED_MAX);
	int fresh = 0;

	if (n < 0 || n > LEAD_HALTED_MAX)
		return -ENOENT;
	for (int i = 0; i < n; i++) {
		bool is_known = is_halted(h, found[i].pid);

		if (found[i].is_stopped || (found[i].session == 0 && !all) ||
		    (is_known && !again))
			continue;
		if (!is_known && h->n == LEAD_HALTED_MAX)
			return -ENOENT;
		if (!is_known)
			h->pids[h->n++] = found[i].pid;
		(void)sys_kill(found[i].pid, SIGSTOP);
		if (has_child(found, n, found[i].pid))
			await_stop(found[i].pid, patience);
		fresh += !is_known;
	}
	return fresh;
}

static void halt(struct lead_halt *h, bool all)
{
	int n = 1, patience = PATIENCE;

	if (!h->is_on) {
		h->n = 0;
		h->is_blunt = false;
	}
	h->is_on = true;
	for (int i = 0; n > 0 && i < LOOKS; i++)
		n = halt_once(h, all, all && i == 0, &patience);
	/* Too many, or no /proc of our own: all of them. */
	h->is_blunt |= n != 0;
	if (h->is_blunt)
		(void)sys_kill(-1, SIGSTOP);
}

/* The youngest first: a parent must not see its child as stopped. */
static void wake(struct lead_halt *h)
{
	if (!h->is_on)
		return;
	h->is_on = false;
	if (h->is_blunt)
		(void)sys_kill(-1, SIGCONT);
	for (size_t i = h->n; i-- > 0;)
		(void)sys_kill(h->pids[i], SIGCONT);
}

void lead_continued(struct lead *l)
{
	l->is_stopped = false;
	wake(&l->others);
}

bool lead_is_ours(const struct lead *l, int sig)
{
	return l->full.is_on && sig == SIGSTOP;
}

static void halt_others(struct lead *l)
{
	if (l->has_box && !l->others.is_on)
		halt(&l->others, false);
}

void lead_stopped(struct lead *l, int sig)
{
	bool wants_terminal = sig == SIGTTIN || sig == SIGTTOU;

	l->is_stopped = true;
	if (l->tty >= 0) {
		pid_t front = sys_tcgetpgrp(l->tty);

		/* An inner shell may have one of its own jobs in front. */
		l->front =
			front <= 0 || front == sys_getpgrp() || wants_terminal
				? l->command
				: front;
		/* What goes on in the background must find itself there. */
		(void)sys_tcsetpgrp(l->tty, sys_getpgrp());
	}
	if (!wants_terminal)
		halt_others(l);
}

void lead_word(struct lead *l, unsigned char word)
{
	if (word == LEAD_HALT)
		halt_others(l);
	if (word == LEAD_FULL && l->has_box)
		halt(&l->full, true);
	if (word == LEAD_ROOM)
		wake(&l->full);
	if (word == LEAD_STOPPED)
		lead_stopped(l, SIGSTOP);
	if (word != LEAD_FRONT && word != LEAD_BEHIND)
		return;
	if (l->command <= 0)
		return;
	if (word == LEAD_FRONT && l->tty >= 0 &&
	    sys_tcsetpgrp(l->tty, l->front) < 0)
		(void)sys_tcsetpgrp(l->tty, l->command);
	if (l->is_stopped)
		(void)sys_kill(-l->command, SIGCONT);
	lead_continued(l);
}

void lead_tell(int fd, enum lead_word word)
{
	unsigned char byte = (unsigned char)word;

	(void)sys_offer_record(fd, &byte, sizeof(byte));
}
