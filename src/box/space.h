/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_SPACE_H
#define HB_BOX_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;

/*
 * How much room is left on the disks that the layers of a box are on.
 *
 * A full disk is everybody's: what else runs on the machine loses what it
 * writes.  So a box stops before, and goes on when there is room again.  What
 * is in memory has its own limit, and is not looked at.
 */

/* How often to look. */
#define SPACE_LOOK_MS 1000

/* More disks than a session has layers on. */
#define SPACE_DISKS_MAX 8

struct space {
	size_t n;
	struct {
		int fd;
		uint64_t limit; /* in bytes: less than this is full */
	} disks[SPACE_DISKS_MAX];
	bool is_full;	/* as of the last look */
	bool is_waived; /* it does not matter until there is room again */
	uint64_t left;	/* bytes on the disk that is fullest, if is_full */
};

/*
 * Finds the disks.  The limit is that of the plan.  Without one it is 1 GiB or
 * a twentieth of the disk, the larger of the two, but at most half of the free
 * room.  A disk that was full before is no news to its owner. space_done() also
 * takes zero.
 */
void space_init(struct space *s, const struct plan *plan);
void space_done(struct space *s);

/*
 * Looks, and sets is_full.  Room again is a little more than the limit, or it
 * would stop and go on each second.
 */
void space_look(struct space *s);

/* The owner wants it to go on. */
void space_waive(struct space *s);

#endif
