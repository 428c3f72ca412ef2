/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_PTY_H
#define HB_BOX_PTY_H

#include "box/screen_filter.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

struct hb_error;

/*
 * A terminal of the command's own, and the relay between it and the user's.
 *
 * The relay is part of a poll loop: pty_wants() says what to wait for,
 * pty_serve() passes on what is there.  It never waits for either side.  The
 * user's terminal is read, and made raw, only while
 *
 *	- our process group is in front of it, and
 *	- the command has asked for input: by having 0, 1 and 2 there, or by a
 *	  read that stopped it (SIGTTIN of its own terminal).
 */

#define PTY_TYPED_SIZE 4096
#define PTY_SHOWN_SIZE 65536

struct pty {
	int user;	  /* the user's terminal */
	bool is_borrowed; /* `user` is one of 0, 1 and 2 */
	bool has_jobs;	  /* it is our controlling terminal */
	int master;	  /* our side of the new one; -1: it hung up */
	int peer;	  /* the command's side, until it has it; -1 */
	bool is_whole;	  /* 0, 1 and 2 are all terminals */
	bool is_asked;	  /* the command wants what is typed */
	bool is_front;	  /* as far as we know */
	bool is_raw;	  /* the user's terminal is, by us */
	bool has_modes;	  /* the new one has those of the user's shell */
	bool is_plain;	  /* the new one leaves output as it is: see pty.c */
	bool is_gone;	  /* the user's terminal hung up */
	bool is_held;	  /* output waits until we are in front */
	bool is_refused;  /* and the command is to be told so: pty_refused */
	pid_t own;	  /* our process group */
	int typed_signal; /* the last that a key was turned into; 0: none */
	struct termios modes; /* of the user's terminal, before it was raw */
	struct termios raw;   /* and then */
	size_t n_typed, n_shown, at_shown;
	char typed[PTY_TYPED_SIZE]; /* on its way in */
	struct screen_filter filter;
	char taken[PTY_SHOWN_SIZE / 2];		      /* before the filter */
	char held[SCREEN_HELD_MAX + SCREEN_COPY_MAX]; /* by it */
	/* On its way out. */
	char shown[PTY_SHOWN_SIZE + SCREEN_HELD_MAX + SCREEN_COPY_MAX];
};

/*
 * A new terminal, with modes and size of the user's; *ret_pty is NULL if there
 * is no user's terminal to keep from the command.  Freed by pty_done().
 * `may_copy`: what is shown may set the clipboard.
 */
int pty_make(bool may_copy, struct pty **ret_pty, struct hb_error *err);

/*
 * In the process that the command is going to be a child of: `peer` in the
 * place of those of 0, 1 and 2 that are terminals.
 */
int pty_move_in(int peer);

/* The command has its side: ours is closed. */
void pty_moved(struct pty *p);

#define PTY_FDS 2

/* What to wait for, into `fds`; -1 where there is nothing. */
void pty_wants(const struct pty *p, struct pollfd fds[PTY_FDS]);

/* Passes on what can be; `fds` as poll() filled it. */
void pty_serve(struct pty *p, const struct pollfd fds[PTY_FDS]);

/*
 * Looks whether we are in front, and if so takes what the command has asked
 * for.  A shell need not tell a running job that it is put in front: while this
 * is false the supervisor looks from time to time.
 */
bool pty_look(struct pty *p);
bool pty_awaits_front(const struct pty *p);
#define PTY_LOOK_MS 100

/*
 * Whether output was held back since the last time, because the user's terminal
 * takes none from the background (tostop): the command is due a SIGTTOU.
 */
bool pty_refused(struct pty *p);

/* The command asks for input: it stopped for want of it. */
void pty_ask(struct pty *p);

/* The user's terminal as it was, with all that was shown so far. */
void pty_leave(struct pty *p);

/* We were stopped, and go on: its modes may be anybody's. */
void pty_return(struct pty *p);

/* The size may have changed. */
void pty_resize(struct pty *p);

/*
 * The end: shows what is left, unless a signal in `signals` (a descriptor, or
 * -1) asks us to end.  Gives the user's terminal back, ready for text, and
 * without answers to the command's questions.  What the filter has seen is
 * known after it.
 */
void pty_end(struct pty *p, int signals);

void pty_done(struct pty *p);

#endif
