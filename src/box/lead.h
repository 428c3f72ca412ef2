/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_LEAD_H
#define HB_BOX_LEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The parent of a command leads the session of the command's own terminal: the
 * kernel stops no process for want of the terminal whose parent is not in its
 * session, for there would be no shell to wake it.  So the parent, and not the
 * supervisor, says which group is in front there; the supervisor tells it.
 */

/* What the supervisor tells, each a record of one byte. */
enum lead_word {
	LEAD_FRONT = 1, /* go on, in front of the terminal */
	LEAD_BEHIND,	/* go on, in the background */
	LEAD_HALT,	/* the user has stopped the job: so is all of it */
};

#define LEAD_HALTED_MAX 1024

struct lead {
	int tty; /* the command's own terminal; -1: it has none */
	pid_t command;
	pid_t front;	 /* the group that goes in front */
	bool has_box;	 /* we are pid 1 of it: others in it stop as well */
	bool is_stopped; /* as far as we were told */
	bool is_halted;	 /* and so are the others */
	bool is_blunt;	 /* halted without a list */
	size_t n_halted;
	pid_t halted[LEAD_HALTED_MAX];
};

/* For the beginning: who is in front when it goes on for the first time. */
void lead_init(struct lead *l, int tty, pid_t command, bool has_box);

/* The command stopped by `sig`; and it goes on. */
void lead_stopped(struct lead *l, int sig);
void lead_continued(struct lead *l);

/* A word of the supervisor's. */
void lead_word(struct lead *l, unsigned char word);

/* The supervisor's side: says it to whoever leads at the socket `fd`. */
void lead_tell(int fd, enum lead_word word);

#endif
