/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_LOG_LINES_H
#define HB_AUDIT_LOG_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Longer ones come in pieces: none that we wrote is as long. */
#define LOG_LINE_MAX ((size_t)1 << 18)

/* The lines of a file that may grow meanwhile. */
struct log_lines {
	int fd;	     /* borrowed */
	uint64_t at; /* where the next line begins */
	char *bytes;
	size_t start, end; /* of what was read and not given out */
};

void log_lines_init(struct log_lines *lines, int fd, uint64_t at);
void log_lines_done(struct log_lines *lines);

/*
 * 1: a line with its end, or a piece; valid until the next call.
 * 0: there is no more.  Then the bytes are those of a line that is not complete
 * and stay where they are: the next call looks again.  Else -errno.
 */
int log_lines_next(struct log_lines *lines, const char **ret, size_t *ret_n);

#endif
