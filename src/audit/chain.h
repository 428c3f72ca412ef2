/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_CHAIN_H
#define HB_AUDIT_CHAIN_H

#include "base/sha256.h"

#include <stddef.h>

struct buf;

/*
 * The chain of a log.  Lines are written in blocks, and a block ends with a
 * seal: the hash of the seal before it and of all bytes since.  A line that is
 * changed, removed or moved no longer fits its seal.  After a block that is
 * removed or moved, the next seal does not fit.
 *
 * There is no key: a process of the same user can write the whole log anew.
 * The log shows damage and careless edits, and it is out of reach of a box.
 */
struct chain {
	uint8_t head[SHA256_SIZE]; /* of the last seal; zero before the first */
	struct sha256 open;	   /* of the bytes since */
};

void chain_begin(struct chain *c, const uint8_t head[SHA256_SIZE]);

/* Bytes that no seal covers yet. */
void chain_add(struct chain *c, const void *bytes, size_t n);

/* Adds the seal to `out`; the next block begins.  0 or the buffer's error. */
int chain_seal(struct chain *c, struct buf *out);

/*
 * A line as it was read, with its end.  0: it is no seal, and was added.
 * 1: a seal that fits.  -EBADMSG: a seal that does not, after which the chain
 * goes on as if it did, so that one fault is told once.
 */
int chain_take(struct chain *c, const char *line, size_t n);

#endif
