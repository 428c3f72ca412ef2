/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_STRATEGY_H
#define HB_STRATEGY_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct hb_listener;

/*
 * How changes to a resource are held back.
 *
 * The truth about pending changes is the same for all: layers over the base, as
 * an overlay writes them.  Change set, diff, commit, undo, rollback, marks and
 * forks know nothing else.  A strategy only says what a box is shown, and how
 * what the box did gets into the upper layer.
 *
 *	overlay		the kernel shows the layers and writes the upper
 *	copy_on_write	a copy of base and layers is shown; what changed in it
 *			is carried to the upper afterwards
 */

/* A resource as a strategy sees it.  Everything is borrowed. */
struct strategy_place {
	int base;	   /* the real directory, verified */
	int dir;	   /* the resource's directory in the store */
	const int *layers; /* the topmost first; [0] is the upper */
	size_t n_layers;
	const char *store_name; /* as struct changes_request has it */
	/* A directory that holds the store: not a part of the resource. */
	uint64_t avoid_dev, avoid_ino;
	const char *boot; /* the id of this boot */
	bool has_lost;	  /* the machine went down while a box ran */
	/* What the box has to show as it is, read-only; below 0 ends it. */
	int (*held)(void *ctx, const char *path, struct hb_error *err);
	void *ctx;
	const struct hb_listener *listener; /* hears progress; may be NULL */
};

struct strategy {
	const char *name;
	/*
	 * The name in `dir` of the tree that the box is shown, and that it
	 * writes to; NULL: an overlay over base and layers.
	 */
	const char *shown;
	/*
	 * Before a box, and at the creation of a session, with nothing pending
	 * in what is shown: afterwards that is base and layers.  Whatever
	 * commit, undo, rollback, a fork or an interruption did before is made
	 * up for here, so that they need not know of it.  Can be repeated.
	 * Returns 1 if something was written, else 0.
	 */
	int (*before_box)(const struct strategy_place *place,
			  struct hb_error *err);
	/*
	 * After a box, whatever ended it: afterwards the upper has what the box
	 * did; the caller syncs it.  A failure or an end in between loses
	 * nothing, and the next call does it all.  Until it has succeeded
	 * nobody may look at the layers or call before_box().
	 */
	int (*after_box)(const struct strategy_place *place,
			 struct hb_error *err);
	/*
	 * Removes what is shown from `dir`, with what a box did to it; needs no
	 * room.  after_box() has nothing to do then, and before_box() makes it
	 * again.  Can be repeated.
	 */
	int (*drop)(int dir, struct hb_error *err);
};

/* NULL: there is none of that name. */
const struct strategy *strategy_find(const char *name);

#define STRATEGY_NAME_SIZE 24
#define STRATEGY_OVERLAY   "overlay"
#define STRATEGY_COPY	   "copy_on_write"

#endif
