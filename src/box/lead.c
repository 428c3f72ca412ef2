/* SPDX-License-Identifier: Apache-2.0 */
#include "box/lead.h"

#include "box/terminal.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <errno.h>
#include <signal.h>

/*
 * A stop of the command is a stop of its whole box: what runs beside it, in
 * other groups and sessions, would go on behind the user's back.  Only what was
 * running is woken again, and what belongs to a terminal of a command that
 * joined is left alone: it has its own user.
 */

/* A process that is forked meanwhile is found by the next look. */
#define LOOKS 8

void lead_init(struct lead *l, int tty, pid_t command, bool has_box)
{
	l->tty = tty;
	l->command = command;
	l->front = command;
	l->has_box = has_box;
	l->is_halted = false;
}

static bool is_halted(const struct lead *l, pid_t pid)
{
	for (size_t i = 0; i < l->n_halted; i++)
		if (l->halted[i] == pid)
			return true;
	return false;
}

/* How many were stopped by one look; <0: there is no telling. */
static int halt_once(struct lead *l)
{
	struct sys_process all[LEAD_HALTED_MAX];
	int n = sys_processes(all, LEAD_HALTED_MAX);
	int fresh = 0;

	if (n < 0 || n > LEAD_HALTED_MAX)
		return -ENOENT;
	for (int i = 0; i < n; i++) {
		if (all[i].is_stopped || all[i].session == 0 ||
		    is_halted(l, all[i].pid) || l->n_halted == LEAD_HALTED_MAX)
			continue;
		l->halted[l->n_halted++] = all[i].pid;
		(void)sys_kill(all[i].pid, SIGSTOP);
		fresh++;
	}
	return fresh;
}

static void halt(struct lead *l)
{
	int n = 1;

	if (l->is_halted || !l->has_box)
		return;
	l->is_halted = true;
	l->n_halted = 0;
	for (int i = 0; n > 0 && i < LOOKS; i++)
		n = halt_once(l);
	/* Too many, or no /proc of our own: all of them. */
	l->is_blunt = n != 0;
	if (l->is_blunt)
		(void)sys_kill(-1, SIGSTOP);
}

void lead_continued(struct lead *l)
{
	l->is_stopped = false;
	if (!l->is_halted)
		return;
	l->is_halted = false;
	if (l->is_blunt)
		(void)sys_kill(-1, SIGCONT);
	for (size_t i = 0; i < l->n_halted; i++)
		(void)sys_kill(l->halted[i], SIGCONT);
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
		halt(l);
}

void lead_word(struct lead *l, unsigned char word)
{
	if (word == LEAD_HALT) {
		halt(l);
		return;
	}
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
