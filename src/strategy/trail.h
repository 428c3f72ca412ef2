/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_TRAIL_H
#define HB_STRATEGY_TRAIL_H

#include "base/buf.h"
#include "tree/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The directories from the top of a tree of ours down to where a walk over
 * another tree is.  Of any depth, with a limited number of descriptors.  A
 * directory whose descriptor was closed meanwhile is found again as the parent
 * of the one below it, and must be the one it was.
 */
struct trail_dir {
	int fd; /* of the last one it is open */
	uint64_t dev, ino;
	size_t path_len; /* of its path, relative to the top */
	/* What it is to have when we leave it, and whether that was lost. */
	mode_t mode;
	struct timespec mtime;
	bool is_touched;
	bool is_open; /* we can write to it as it is */
	/* for who uses the trail */
	bool is_loose;
	uint64_t record;
	uint64_t n;
};

struct trail {
	struct trail_dir *dirs; /* [0] is the top */
	size_t n, lowest;
	struct buf path;
	/*
	 * A directory is done with.  It is open, and so is the one above it.
	 * `path` ends with its name.
	 */
	int (*leave)(void *ctx, struct trail_dir *dir, struct hb_error *err);
	void *ctx;
};

/* `top` is borrowed; `leave` is called for it as well, by trail_end(). */
int trail_begin(struct trail *t, int top,
		int (*leave)(void *ctx, struct trail_dir *dir,
			     struct hb_error *err),
		void *ctx, struct hb_error *err);

/* Leaves everything, if r is 0; frees in any case.  Returns the first failure.
 */
int trail_end(struct trail *t, int r, struct hb_error *err);

struct trail_dir *trail_last(struct trail *t);

/* Leaves what the first `len` bytes of `path` are not in. */
int trail_leave_to(struct trail *t, const char *path, size_t len,
		   struct hb_error *err);

/*
 * Goes into `name`, which lies in the last directory and which `entry`
 * describes.  It can be written to until it is left.
 */
int trail_enter(struct trail *t, const char *name, const struct entry *entry,
		struct hb_error *err);

/* The last directory is about to change, and gets its mode and time back. */
int trail_touch(struct trail *t, struct hb_error *err);

/* What every `leave` does first: gives them back.  1: it had been touched. */
int trail_restore(struct trail_dir *dir, struct hb_error *err);

#endif
