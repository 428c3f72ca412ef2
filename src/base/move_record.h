/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_MOVE_RECORD_H
#define HB_BASE_MOVE_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The record of a directory that is renamed in a box, as it lies in a file.  A
 * worker of the box writes it before it changes anything (box/notify/twin.h).
 * The next worker reads it if that one was killed, and so does the session if
 * the whole box was (strategy/moved.h).
 *
 * `step` is written alone, after the rest, and is first in the file.
 */
enum moving_step {
	MOVING_NOTHING, /* the rest means nothing */
	/* `hidden` may be there, in part; the source is whole */
	MOVING_LINKS,
	/*
	 * `hidden` was whole.  It is still there: so is the source.  It is not:
	 * it is the target, and the source may be there in part.
	 */
	MOVING_SWAP,
	/* The target is there, and a new source would be another directory. */
	MOVING_DONE,
	MOVING_STEPS
};

/* How the name of a hidden directory begins. */
#define MOVING_HIDDEN ".hb-rename-"

struct moving {
	uint32_t step;		   /* enum moving_step */
	char hidden[NAME_MAX + 1]; /* beside the target */
	/* Both from the root of the overlay, without a slash in front. */
	char source[PATH_MAX], target[PATH_MAX];
};

/* Whether it can be acted on: its paths stay below the root. */
bool moving_is_sound(const struct moving *m);

/* The name that a path ends in; *ret_parent is the path before it, or ".". */
const char *moving_split(const char *path, char ret_parent[PATH_MAX]);

#endif
