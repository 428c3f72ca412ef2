/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_LEAD_H
#define HB_BOX_LEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The parent of a command leads the session of the command's own terminal.  For
 * want of the terminal the kernel stops only a process whose parent is in its
 * session: otherwise no shell could wake it.  So the parent, and not the
 * supervisor, says which group is in front there; the supervisor tells it.
 */

/* What the supervisor tells, each a record of one byte. */
enum lead_word {
	LEAD_FRONT = 1, /* go on, in front of the terminal */
	LEAD_BEHIND,	/* go on, in the background */
	LEAD_HALT,	/* the user has stopped the job: so is all of it */
	LEAD_FULL,	/* the disk is full: all of the box is stopped */
	LEAD_ROOM,	/* and goes on */
	LEAD_STOPPED,	/* a SIGSTOP was the command's own, and not for room */
	LEAD_STAY,	/* the command has ended, and the box goes on */
};

#define LEAD_HALTED_MAX 1024

/* Processes that we have stopped, and that go on with us. */
struct lead_halt {
	bool is_on;
	bool is_blunt; /* all of them, without a list */
	size_t n;
	pid_t pids[LEAD_HALTED_MAX];
};

struct lead {
	int tty; /* the command's own terminal; -1: it has none */
	pid_t command;
	pid_t front;	 /* the group that goes in front */
	bool has_box;	 /* we are pid 1 of it: others in it stop as well */
	bool is_stopped; /* as far as we were told */
	struct lead_halt others; /* stopped with the command */
	struct lead_halt full;	 /* stopped for want of room on disk */
};

/*
 * For the beginning: which group is in front when it goes on for the first
 * time.  `l` is zero: its lists stay pages that no process has touched.
 */
void lead_init(struct lead *l, int tty, pid_t command, bool has_box);

/* The command stopped by `sig`; and it goes on. */
void lead_stopped(struct lead *l, int sig);
void lead_continued(struct lead *l);

/* Whether a stop by `sig` is our own, for want of room: not the command's. */
bool lead_is_ours(const struct lead *l, int sig);

/* A word of the supervisor's. */
void lead_word(struct lead *l, unsigned char word);

/* The supervisor's side: says it to the leader at the socket `fd`. */
void lead_tell(int fd, enum lead_word word);

#endif
