/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_KEEPER_H
#define HB_BOX_KEEPER_H

struct box;
struct door;
struct heard;
struct terminal;
struct turns;

/*
 * A box ends with the last of its commands, and each command is waited for by
 * the process that started it.  So the supervisor of the first command may have
 * to leave before the box ends.  It then hands the box over to a copy of
 * itself, the keeper.
 *
 *	supervisor	has the terminal and its command's status, and ends with
 *			them.  It leaves the session alone from then on.
 *	keeper		has the session's lock, the door, the listeners, the
 *			control group and the limits.  It has no terminal, no
 *			standard streams and a session of its own, so no key and
 *			no hang-up of a terminal reaches it.  It ends the box
 *			after the last command that joined, and settles the
 *			session.
 *	init		is told before.  It does not die with its parent any
 *			more, but with the last copy of the supervisor's end of
 *			its socket, which is the keeper's.
 *
 * Before init was told the supervisor may die at any moment, and the box with
 * it.  After that the keeper may: the clients see the hang-up.
 */

/* What is handed over; all of it is borrowed. */
struct keeper {
	struct box *box;
	struct terminal *terminal;
	struct door *door;
	struct heard *heard;
	struct turns *turns;
};

/*
 * Forks.  1 in the supervisor: all of the box that it had is closed, but the
 * terminal.  0 in the keeper.  Failure: there is no keeper, and everything is
 * as it was.
 */
int keeper_part(const struct keeper *k);

#endif
