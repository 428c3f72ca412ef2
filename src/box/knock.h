/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_KNOCK_H
#define HB_BOX_KNOCK_H

#include <stddef.h>

struct door_greeting;
struct door_status;
struct hb_error;

/*
 * The client's side of a door (box/door.h), before and without joining: `fd` is
 * connected to the supervisor of a live box.
 *
 * -EAGAIN without words: there is no box any more, or not yet.  -HB_E_BUSY: the
 * supervisor does not answer, because it is stopped.
 */

/* So often a client looks that only wants to know. */
#define KNOCK_LOOKS 2

/*
 * Waits for a word of the supervisor.  -HB_E_BUSY also after `looks` seconds;
 * 0 are any number.
 */
int knock_await(int fd, unsigned looks, struct hb_error *err);

/* Takes the greeting, and the descriptors that come with it. */
int knock_greeting(int fd, unsigned looks, struct door_greeting *ret_greeting,
		   int *fds, size_t *ret_n, struct hb_error *err);

/*
 * The answer of the supervisor.  -HB_E_BUSY also if it is busy for longer than
 * a look may take.
 */
int knock_status(int fd, struct door_status *ret_status, struct hb_error *err);

/*
 * Has a box go on that stopped for want of room on disk: 1, or 0 if it had not
 * stopped.
 */
int knock_resume(int fd, struct hb_error *err);

/*
 * Borrows the lock of the session behind the door: its descriptor, which the
 * caller closes.  It is lent until `fd` is closed.  The greeting and what comes
 * with it is the caller's, as of knock_greeting().  -HB_E_BUSY: another process
 * has it; -EAGAIN without words as above.
 */
int knock_lend(int fd, struct door_greeting *ret_greeting, int *fds,
	       size_t *ret_n, struct hb_error *err);

/*
 * A line to the network of the box, which the caller closes: net/control.h.  A
 * box whose network is not by name closes the other end at once.  `fd` is of no
 * use afterwards.
 */
int knock_net(int fd, int *ret_line, struct hb_error *err);

/* Asks the supervisor to end the box and waits until it has. */
int knock_stop(int fd, struct hb_error *err);

#endif
