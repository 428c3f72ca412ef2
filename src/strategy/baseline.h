/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_BASELINE_H
#define HB_STRATEGY_BASELINE_H

#include "base/buf.h"
#include "tree/entry.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * The state of a copy when it was last known to be base and layers.  It has one
 * record for each object, a directory before its entries, names in the order of
 * their bytes.  docs/formats/session.md has the file.  Memory does not depend
 * on the number of records.
 */
#define BASELINE_BOOT_SIZE 40

enum baseline_flag {
	BASELINE_HELD = 1 << 0, /* an empty thing where something is shown */
	/* Of several names in the layer: from_ctime is its mtime. */
	BASELINE_LINKED = 1 << 1,
	BASELINE_SHARED = 1 << 2, /* it has several names in the copy */
};

struct baseline_record {
	enum entry_type type;
	unsigned flags; /* enum baseline_flag */
	uint32_t depth; /* 0: at the top */
	char name[NAME_MAX + 1];
	/* in the copy */
	uint64_t ino, size;
	struct timespec ctime;
	/* what it was copied from, or carried to; 0: not known */
	uint64_t from_ino;
	struct timespec from_ctime;
};

struct baseline_reader {
	int fd;
	bool is_trusted; /* the machine was up since: the copy is as it says */
	bool has_next;
	struct baseline_record next; /* has_next */
	struct buf path;	     /* of `next`, relative to the resource */
	uint64_t offset;	     /* of `next`, for baseline_amend() */
	/* private */
	uint64_t end;
	struct buf lengths;
	unsigned char *block;
	size_t at, n_block;
	uint64_t n_left;
};

/*
 * Opens the one in `dir` and reads the first record.  -ENOENT without words if
 * there is none; -HB_E_CORRUPT if it is not whole.
 */
int baseline_open(int dir, const char *boot, struct baseline_reader *ret,
		  struct hb_error *err);
void baseline_close(struct baseline_reader *b);

/* Reads one more; at the end has_next is false. */
int baseline_next(struct baseline_reader *b, struct hb_error *err);

/* Leaves out everything below the depth of a record that was just read. */
int baseline_skip(struct baseline_reader *b, uint32_t depth,
		  struct hb_error *err);

struct baseline_writer {
	int dir, fd;
	struct buf block;
	uint64_t written;
	uint64_t n;
};

/* Begins another one, which no reader sees before baseline_publish(). */
int baseline_begin(int dir, struct baseline_writer *ret, struct hb_error *err);

/* `ret_offset` is for baseline_amend(). */
int baseline_add(struct baseline_writer *w,
		 const struct baseline_record *record, uint64_t *ret_offset,
		 struct hb_error *err);

/* Reads what was added so far from the beginning; what baseline_open() does. */
int baseline_reread(struct baseline_writer *w, struct baseline_reader *ret,
		    struct hb_error *err);

/* The ctime in the copy of a record that was added. */
int baseline_amend(struct baseline_writer *w, uint64_t offset,
		   struct timespec ctime, struct hb_error *err);

/*
 * Takes the place of the one before, atomically.  Not synced, and neither is
 * the copy: it is trusted in this boot only.
 */
int baseline_publish(struct baseline_writer *w, const char *boot,
		     struct hb_error *err);

/* Nothing is there afterwards; is_there: something is. */
int baseline_remove(int dir, struct hb_error *err);
bool baseline_is_there(int dir);

/* Drops what was not published. */
void baseline_drop(struct baseline_writer *w);

#endif
