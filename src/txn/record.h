/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_RECORD_H
#define HB_TXN_RECORD_H

#include "txn/op.h"

#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * An operation as the bytes of a journal's record; docs/formats/journal.md.
 */

/* Adds the payload.  Returns 0 or the buffer's error. */
int record_encode(const struct op *op, struct buf *out);

/*
 * Reads a payload, which any bytes may be.  0, or -EBADMSG for a payload that
 * no record_encode() has written.  The operation points into `payload`.
 */
int record_decode(const void *payload, size_t size, uint32_t n_resources,
		  struct op *ret_op);

/* SipHash-1-3 under a key of zeroes, the lower half: it finds what a crash
 * tore. */
uint32_t record_sum(const void *bytes, size_t n);

#endif
