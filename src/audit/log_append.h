/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_LOG_APPEND_H
#define HB_AUDIT_LOG_APPEND_H

#include "audit/log_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Writing to the log.  Each append is one block: records and a seal, by one
 * write under the log's lock.
 *
 * A process that is killed leaves a block without its head, or a torn one.  The
 * next append takes up whole blocks.  It leaves torn bytes where they are, and
 * says so in a record behind them (kind `torn`).  An end that is missing and a
 * head that is missing are told in the same way (kind `gap`).
 *
 * A segment that is full is followed by the next, and the oldest goes.  Its
 * first line has the hash of the seal before it, so that the chain goes on.
 */
#define LOG_SEGMENT_MAX ((uint64_t)4 << 20)
#define LOG_SEGMENTS	16

/* A block has at most so many bytes of records. */
#define LOG_BLOCK_MAX ((size_t)64 << 10)

/* So long another process is waited for that writes. */
#define LOG_WAIT 1000 /* ms */

/*
 * Appends the records to the log in the directory `state`, which gets one if it
 * has none.  `bodies` has a line for each, from behind the number on:
 * "\"time\":…}\n".  `written`, if it is not NULL, gets the lines as they are in
 * the log, without marks and seals.  With `is_durable` they are on disk
 * afterwards.
 *
 * On failure none of them is in the log, and they count as lost in the head if
 * that can be written.  A torn block may be left.
 */
int log_append(int state, const char *bodies, size_t n, bool is_durable,
	       struct buf *written);

/* The number of a record, from its line; 0: it is none. */
uint64_t log_seq_of(const char *line, size_t n);

/* The hash that a segment's first line has.  -EINVAL: that is none. */
int log_segment_prev(const char *line, size_t n, uint8_t ret[SHA256_SIZE]);

/* The lowest and the highest segment that is there.  -ENOENT: there is none. */
int log_find_segments(int state, unsigned *ret_first, unsigned *ret_last);

#endif
