/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_SEEN_H
#define HB_STORE_SEEN_H

#include "base/buf.h"
#include "base/siphash.h"
#include "changes/changes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a session knows of the paths it has committed: a log of records, in
 * docs/formats/session.md.  Records are written as they come and read when the
 * first path is looked up, so that who asks for none pays for none.  Memory is
 * up to 32 bytes for each, up to SEEN_MAX of them.  Paths beyond that are not
 * remembered, and what is not remembered is at worst a conflict that is none.
 */
#define SEEN_MAX      ((size_t)1 << 20)
#define SEEN_PATH_MAX ((size_t)1 << 20)

struct seen_slot {
	uint64_t hash; /* of the path */
	uint64_t offset;
};

/* For looking up. */
struct seen_file {
	int fd; /* -1: there is no file */
	bool is_read;
	int failed; /* why reading it ended early, or 0 */
	struct siphash_key key;
	struct seen_slot *slots; /* in the order of the file */
	size_t n;
	uint32_t *table; /* by hash: the number of a slot + 1, or 0 */
	size_t mask;
	uint64_t end; /* of what is whole: a torn end is not read */
	char *block;  /* bytes of the file, from `at` on */
	size_t n_block, block_room;
	uint64_t at;
};

/*
 * A file that is not there, or does not begin as one, is empty.  Its records
 * are not looked at yet.
 */
int seen_open(int dir, struct seen_file *seen, struct hb_error *err);
void seen_done(struct seen_file *seen);

/*
 * Of type seen_fn: `ctx` is a struct seen_file.  The latest record counts.  A
 * file that cannot be read knows nothing; seen_log_add() tells why.
 */
bool seen_find(void *ctx, const char *path, struct seen *ret_seen);

/* Every path that is known, by its latest record; below 0 ends it. */
typedef int (*seen_each_fn)(void *ctx, const struct seen *seen,
			    struct hb_error *err);
int seen_each(struct seen_file *seen, seen_each_fn fn, void *ctx,
	      struct hb_error *err);

/* For adding to the file, which is not touched before seen_log_open(). */
struct seen_log {
	int dir;
	struct seen_file *old;
	int fd;		  /* -1: nothing was added yet */
	struct buf block; /* what is not written yet */
	uint64_t start, end;
	size_t n; /* records, with the older ones */
	bool is_open;
	bool has_room; /* some may be left behind the end */
};

/*
 * Goes on where `old`, which is the same file, is whole.  It is borrowed until
 * the log ends.
 */
void seen_log_begin(int dir, struct seen_file *old, struct seen_log *log);

/*
 * Begins the file if that has to be, and keeps room for this many paths, twice.
 * After it no record of these is refused for want of room.  Where it was not
 * called the first record begins the file.
 */
int seen_log_open(struct seen_log *log, uint64_t n_paths, struct hb_error *err);
int seen_log_add(struct seen_log *log, const struct seen *seen,
		 struct hb_error *err);

/* What was added so far is durable after this. */
int seen_log_sync(struct seen_log *log, struct hb_error *err);

/*
 * What was added is durable after this.  With `drop_older` it is all that the
 * file has.
 */
int seen_log_end(struct seen_log *log, bool drop_older, struct hb_error *err);

/* What was not written is lost, which is safe. */
void seen_log_done(struct seen_log *log);

#endif
