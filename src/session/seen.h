/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_SEEN_H
#define HB_SESSION_SEEN_H

#include "txn/changes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct hb_error;

/*
 * What a session knows of the paths it has committed: a file of records with
 * an index, in docs/formats/session.md.  Records are written as they come;
 * memory is 16 bytes for each, up to SEEN_MAX of them.  Paths beyond that are
 * not remembered, and what is not remembered is at worst a conflict that is
 * none.
 */
#define SEEN_MAX      ((size_t)1 << 20)
#define SEEN_PATH_MAX ((size_t)1 << 20)

struct seen_slot {
	uint64_t hash; /* of the path */
	uint64_t offset;
};

/* For looking up.  Zero is a file without records. */
struct seen_file {
	int fd; /* meaningless without slots */
	struct seen_slot *slots; /* by hash, then by offset */
	size_t n;
	char *path; /* of the record that was found last */
	size_t room;
};

/* A file that is not there is empty; one that is damaged -HB_E_CORRUPT. */
int seen_open(int dir, struct seen_file *seen, struct hb_error *err);
void seen_done(struct seen_file *seen);

/* Of type seen_fn: `ctx` is a struct seen_file.  The latest record counts. */
bool seen_find(void *ctx, const char *path, struct seen *ret_seen);

/* For writing a new file, which replaces the old one at the end. */
struct seen_writer {
	int dir;
	int fd;
	struct buf *block; /* what is not written yet */
	uint64_t offset;
	struct seen_slot *slots;
	size_t n, room;
};

/* With `old`, its records are carried over. */
int seen_begin(int dir, struct seen_file *old, struct seen_writer *w,
	       struct hb_error *err);
int seen_add(struct seen_writer *w, const struct seen *seen,
	     struct hb_error *err);

/* Durable after this.  Without it nothing has happened. */
int seen_commit(struct seen_writer *w, struct hb_error *err);
void seen_abort(struct seen_writer *w);

/* No records any more. */
int seen_forget(int dir, struct hb_error *err);

#endif
