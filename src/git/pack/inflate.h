/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_PACK_INFLATE_H
#define HB_GIT_PACK_INFLATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * zlib data (RFC 1950 and 1951), which git's objects are made of.  The writer
 * is hostile: output goes no further than its room, memory is fixed, and every
 * step of the loop takes input or makes output.  The sum at the end is not
 * compared, because an object's name is a better one.
 *
 * Not the library of that name: the run path links libc alone, and
 * docs/decisions has the reason.
 */

/* Reads up to `size` bytes at `offset`: the number, 0 at the end, -errno. */
typedef ssize_t (*inflate_read_fn)(void *ctx, void *buf, size_t size,
				   uint64_t offset);

/*
 * Decodes what begins at `offset`.  0: that was all of it; -EFBIG: it has more
 * than `room` bytes, and the first ones are there; -EBADMSG: it is no such
 * data; or the reader's error.  `*ret_n` is how many bytes are there, in any
 * case.
 */
int inflate_bytes(inflate_read_fn read, void *ctx, uint64_t offset,
		  unsigned char *out, size_t room, size_t *ret_n);

/* Takes the next bytes; -errno ends it. */
typedef int (*inflate_sink_fn)(void *ctx, const void *bytes, size_t n);

/*
 * The same from the start of the input on, for data of any length: a part at a
 * time, in memory of a fixed size.  Or the error of the sink.
 */
int inflate_each(inflate_read_fn read, void *ctx, inflate_sink_fn sink,
		 void *sink_ctx);

#endif
