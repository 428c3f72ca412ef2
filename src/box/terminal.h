/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_TERMINAL_H
#define HB_BOX_TERMINAL_H

#include "box/box.h"
#include "box/state.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

struct pollfd;
struct sys_signal;

/*
 * How the command and the user's terminal get along with a supervisor between
 * them.  The shell knows only the supervisor; the terminal knows only the
 * process group in front.
 *
 * With a terminal of its own (`pty`) the command is never in front of the
 * user's: box/pty.h.  At the user's own (PLAN_TTY_REAL):
 *
 * GROUP_OWN: 0, 1 and 2 are all the controlling terminal.  The command has its
 * own process group and the supervisor puts it in front.
 * GROUP_SHARED: anything else, for instance a pipeline, whose members share the
 * terminal by being in one group.
 */
struct terminal {
	struct pty *pty; /* NULL: it has the user's, or there is none */
	const int *lead; /* the socket to what leads it: box/lead.h */
	int fd;		 /* the user's; -1 with GROUP_SHARED and a pty */
	enum box_group group;
	bool is_foreground; /* the terminal is touched only while this holds */
	pid_t own;	    /* our process group */
	pid_t command;	    /* 0 until it has started */
	uint64_t early;	    /* bit n: signal n came before that */
	pid_t front;	    /* who was in front when the command stopped */
	struct termios modes; /* as the stopped command left them */
	bool has_modes;
	bool was_raw;		      /* with a pty: before terminal_leave() */
	enum box_clipboard clipboard; /* after terminal_done() */
	int typed_signal;	      /* the same: see box/pty.h */
	int sent_signal; /* the last that a process sent us; 0: none */
	bool had_keys;	 /* the user's own terminal was with the command */
};

/*
 * Decides for 0, 1 and 2 as they are, and tells the box.  `lead` is borrowed.
 * terminal_done() takes what this has made, also after a failure.
 */
int terminal_init(struct terminal *t, struct box *box, const int *lead,
		  struct hb_error *err);

/* The child that is going to be the box has what it needs of us. */
void terminal_moved(struct terminal *t);

/* The command runs, with this pid as seen from here. */
void terminal_started(struct terminal *t, pid_t command);

/* A signal that reached the supervisor: pass it on, or not. */
void terminal_signal(struct terminal *t, const struct sys_signal *signal);

/*
 * The command stopped by `sig`: stop the supervisor the same way, so that the
 * shell sees it, and go on together.  Returns after the continue.
 */
void terminal_stopped(struct terminal *t, int sig, int signals);

/*
 * We stopped the command, and are not stopped.  Meanwhile the terminal is as it
 * was, for words and for ^Z; then it is the command's again.
 */
void terminal_leave(struct terminal *t);
void terminal_return(struct terminal *t);

/* With a pty: pty_serve(), and what follows from it. */
void terminal_serve(struct terminal *t, const struct pollfd *fds);

/*
 * With a pty: looks whether we are in front by now, and the command wants to
 * be there.  To be called while pty_awaits_front().
 */
void terminal_look(struct terminal *t);

/* The same for a stop that did not come by a signal of ours. */
void terminal_pass_on(const struct terminal *t, int sig);

/*
 * The end: the terminal is ours again, as it was.  `signals` as for pty_end().
 */
void terminal_done(struct terminal *t, int signals);

/*
 * In a copy of the process: the terminal is the other one's, and there is no
 * command here any more.
 */
void terminal_forget(struct terminal *t);

/* After terminal_done(): whether a key at the user's terminal was turned into
 * `sig`. */
bool terminal_typed(const struct terminal *t, int sig);

#endif
