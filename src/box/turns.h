/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_TURNS_H
#define HB_BOX_TURNS_H

#include <stdint.h>
#include <sys/types.h>

struct plan;

/*
 * A socket inside of the box whose one verb is to connect.  It asks the caller
 * of the box to mark its session.  Nothing that comes over it is read.  The
 * answer is one record, struct turn_answer.
 *
 * plan->turn runs in a process of its own, which has no descriptor of ours.  It
 * comes to the box by the door, as any other client.  One runs at a time, and
 * the next begins later the longer the last has taken.  Others wait outside of
 * the socket.  So a flood costs the processes that make it.
 */

struct turn_answer {
	uint32_t magic;
	int32_t code; /* 0, or the error's, not negated */
};
#define TURN_MAGIC 0x4e525554

/* At least so long nothing is marked after a mark, or after a failure. */
#define TURNS_REST_MS 200

struct turns {
	int listener; /* borrowed; -1: none */
	int client;   /* asked last, and waits; -1: none */
	int work;     /* a pidfd; -1: none */
	pid_t pid;    /* of that process */
	int64_t since;
};
#define TURNS_NONE                                       \
	(struct turns)                                   \
	{                                                \
		.listener = -1, .client = -1, .work = -1 \
	}

/* After a client has asked. */
void turns_begin(struct turns *t, const struct plan *plan);

/* The process has ended.  Returns in how many ms the next may begin. */
int64_t turns_end(struct turns *t);

/* In a copy of the supervisor: what is under way is its parent's. */
void turns_part(struct turns *t);

/* In that parent, which leaves: what is under way ends by itself. */
void turns_leave(struct turns *t);

/* After the box.  A mark that is still to begin is not made. */
void turns_done(struct turns *t);

/*
 * Inside: asks for a mark, and waits for it.  Returns the negated code of the
 * answer; -ENOENT: there is no such socket.
 */
int turns_ask(void);

#endif
