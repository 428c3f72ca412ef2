/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_TWIN_H
#define HB_BOX_NOTIFY_TWIN_H

#include "base/move_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A directory is renamed by a twin of it.  That is a hidden tree of hard links
 * beside the target, which takes the target's name in one step.  Then the
 * source goes.  An overlay does not move a directory that lies below its upper
 * layer, and allows this.
 */

/* Above these the kernel's answer stays. */
#define TWIN_ENTRIES_MAX 50000
#define TWIN_BYTES_MAX	 ((uint64_t)1 << 30)
#define TWIN_DEPTH_MAX	 100

/* What becomes of the call; below 0: it fails so. */
enum twin_result {
	TWIN_DONE,
	TWIN_NOT_OURS, /* nothing has changed: the kernel is to say why not */
};

struct twin {
	int old_dir, new_dir; /* borrowed; O_PATH will do */
	const char *old_name, *new_name;
	unsigned flags;	      /* of renameat2 */
	int record;	      /* the file of `moving`, or -1; borrowed */
	struct moving moving; /* source and target are the caller's to fill */
	/* Asked from time to time: false gives up before the target is there.
	 */
	bool (*is_wanted)(void *ctx);
	void *ctx;
	size_t entries_max;
	uint64_t bytes_max;
};

/*
 * Renames.  TWIN_DONE is true as soon as the target has its name, also if some
 * of the source could not be removed.  On every other result the source is
 * whole and nothing is hidden, but files may have been copied up.
 */
int twin_rename(struct twin *t);

/*
 * Ends what the record in t->record says was begun: TWIN_DONE, and the target
 * is there, or TWIN_NOT_OURS, and the source is.  Directories and names are
 * taken from `t` and belong to the paths of the record.  Can be killed, and
 * called again.
 */
int twin_recover(struct twin *t);

/* The answer was given: there is nothing to recover any more. */
void twin_forget(struct twin *t);

/* The record of a file; false: there is none that could be acted on. */
bool twin_read(int record, struct moving *ret);

#endif
