/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_SEEN_H
#define HB_SESSION_SEEN_H

#include "base/buf.h"
#include "txn/changes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * What a session knows of the paths it has committed: a log of records, in
 * docs/formats/session.md.  Records are written as they come; memory is 16
 * bytes for each, up to SEEN_MAX of them.  Paths beyond that are not
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
	int fd;			 /* -1: there is no file */
	struct seen_slot *slots; /* by hash, then by offset */
	size_t n, room;
	uint64_t end; /* of what is whole: a torn end is not read */
	char *path;   /* of the record that was read last */
	size_t path_room;
};

/* A file that is not there is empty; one of another kind -HB_E_CORRUPT. */
int seen_open(int dir, struct seen_file *seen, struct hb_error *err);
void seen_done(struct seen_file *seen);

/* Of type seen_fn: `ctx` is a struct seen_file.  The latest record counts. */
bool seen_find(void *ctx, const char *path, struct seen *ret_seen);

/* For adding to the file, which is not touched before the first record. */
struct seen_log {
	int dir;
	int fd;		  /* -1: nothing was added yet */
	struct buf block; /* what is not written yet */
	uint64_t start, end;
	size_t n; /* records, with the older ones */
	bool is_open;
};

/* Goes on where `old`, which was read from the same file, is whole. */
void seen_log_begin(int dir, const struct seen_file *old, struct seen_log *log);
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
