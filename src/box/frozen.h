/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_FROZEN_H
#define HB_BOX_FROZEN_H

#include "box/door.h"

#include <stddef.h>
#include <sys/types.h>

struct hb_error;

/*
 * A live box in which nothing runs for a moment.
 *
 * Every thread of the box but pid 1 is held where it is.  Nothing in the box or
 * outside can tell afterwards: no signal is sent, no parent sees a child stop,
 * no terminal changes hands.  A job that was stopped before stays stopped.
 *
 * The box goes on with freeze_end(), and no later than FREEZE_HOLD_MS after it
 * froze.  It goes on at once when this process or one of its helpers ends in
 * any way, or when a helper is stopped.  The kernel sees to that.
 *
 * docs/decisions/0050, tests/box/freeze.py
 */

/* So long the threads of a box have to stop; then it goes on. */
#define FREEZE_STOP_MS 5000

/* So long a box is frozen at most. */
#define FREEZE_HOLD_MS 15000

/* The way into a box: what a client is greeted with.  Borrowed. */
struct freeze_way {
	unsigned ns; /* door_greeting.ns */
	const int *namespaces;
	size_t n;
};

/* Zero with `control` -1 is no freeze. */
struct freeze {
	pid_t guide, holder;
	int control;
	unsigned n_threads; /* as many are held */
};
#define FREEZE_NONE           \
	{                     \
		.control = -1 \
	}

/*
 * Freezes the box.  -HB_E_BUSY: a thread does not stop, or the box ends; -EPERM
 * or another errno: this host does not allow it.  After a failure the box goes
 * on.
 */
int freeze_begin(struct freeze *f, const struct freeze_way *way,
		 struct hb_error *err);

/*
 * Whether nothing has run since freeze_begin().  1: so it is; 0: a thread ran,
 * for instance of a command that joined; -HB_E_BUSY: the freeze is over.
 */
int freeze_check(struct freeze *f, struct hb_error *err);

/* The box goes on.  It does when this returns.  Accepts no freeze. */
void freeze_end(struct freeze *f);

#endif
