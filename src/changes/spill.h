/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_SPILL_H
#define HB_CHANGES_SPILL_H

#include "base/buf.h"
#include "changes/changes.h"
#include "changes/conflict.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Changes in a file without a name, in the order in which they were added.  A
 * path is written as the length that it shares with the path before, and the
 * rest.  Without that a tree of depth n would take n squared.
 */

/* Left free at the start of the file, for the keeper of the file. */
#define SPILL_HEAD 64

/* A change as it is kept: `why` by number, no `from`. */
struct spilled {
	struct change change;
	enum conflict conflict;
};

struct spill {
	int file;
	uint64_t end;	 /* of what is in the file */
	struct buf out;	 /* not yet written */
	struct buf last; /* the path that was last added */
	uint64_t next;	 /* offset of the next record to read */
	struct buf path; /* the path that was last read */
	unsigned char *block;
	uint64_t at; /* offset of the block */
	size_t n_block;
};

/* `dir` is where the file may lie. */
int spill_init(struct spill *spill, int dir, struct hb_error *err);
/* For reading a kept stream of so many bytes; takes the file. */
void spill_resume(struct spill *spill, int file, uint64_t size);
void spill_done(struct spill *spill);

int spill_add(struct spill *spill, const struct spilled *record,
	      struct hb_error *err);

/* Starts reading; everything that was added is there. */
int spill_rewind(struct spill *spill, struct hb_error *err);

/* 1: a record, whose path is valid until the next call; 0: the end. */
int spill_next(struct spill *spill, struct spilled *ret, struct hb_error *err);

/*
 * Decodes one record out of `n` bytes, given the path of the one before, which
 * becomes this one's.  Returns the number of bytes it takes, or -EBADMSG.
 */
ssize_t spill_decode(const unsigned char *bytes, size_t n, struct buf *path,
		     struct spilled *ret);

/* Encodes one; `shared` bytes of the path are those of the one before. */
int spill_encode(const struct spilled *record, size_t shared, struct buf *out);

#endif
