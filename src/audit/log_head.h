/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_LOG_HEAD_H
#define HB_AUDIT_LOG_HEAD_H

#include "base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The directory of a log, below a state directory:
 *
 *	log/head		where the log ends, and its lock
 *	log/00000001.jsonl	the segments, by number
 *
 * The head is one line of fixed size, which is written in place: also a full
 * disk takes it.  It tells a cut at the end of the log, and how many records
 * could not be written.
 */
/*
 * Single calls have a log of their own: the same directory below this one, of
 * the state directory.
 */
#define LOG_CALLS_DIR "calls"

#define LOG_DIR	 "log"
#define LOG_HEAD LOG_DIR "/head"

struct log_head {
	unsigned first;	  /* the oldest segment that is kept */
	unsigned segment; /* the last, which is written */
	uint64_t size;	  /* its bytes, up to the last seal */
	uint64_t seq;	  /* of the next record */
	uint64_t lost;	  /* records since the last success */
	uint8_t hash[SHA256_SIZE];
};

#define LOG_HEAD_SIZE 137

/* The first head of all. */
void log_head_init(struct log_head *head);

/* As text with a NUL; `ret` has LOG_HEAD_SIZE + 1 bytes. */
void log_head_text(const struct log_head *head, char *ret);

/* -EINVAL if it is none, with *ret untouched. */
int log_head_parse(const char *text, size_t n, struct log_head *ret);

/* Reads the open file; -ENOENT: it is empty or no head. */
int log_head_read(int fd, struct log_head *ret);

/* "log/00000001.jsonl" */
#define LOG_SEGMENT_SIZE 32
const char *log_segment_name(unsigned number, char ret[LOG_SEGMENT_SIZE]);

#endif
