/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/log_lines.h"

#include "sys/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void log_lines_init(struct log_lines *lines, int fd, uint64_t at)
{
	*lines = (struct log_lines){ .fd = fd, .at = at };
}

void log_lines_done(struct log_lines *lines)
{
	free(lines->bytes);
	lines->bytes = NULL;
}

/* Reads behind what is there; 0 at the end of the file. */
static ssize_t read_more(struct log_lines *lines)
{
	size_t n = lines->end - lines->start;
	ssize_t got;

	if (!lines->bytes)
		lines->bytes = malloc(LOG_LINE_MAX);
	if (!lines->bytes)
		return -ENOMEM;
	if (n > 0 && lines->start > 0)
		memmove(lines->bytes, lines->bytes + lines->start, n);
	lines->start = 0;
	lines->end = n;
	got = sys_pread(lines->fd, lines->bytes + n, LOG_LINE_MAX - n,
			lines->at + n);
	if (got > 0)
		lines->end += (size_t)got;
	return got;
}

int log_lines_next(struct log_lines *lines, const char **ret, size_t *ret_n)
{
	ssize_t got = 1;

	while (got > 0) {
		size_t n = lines->end - lines->start;
		const char *first =
			lines->bytes ? lines->bytes + lines->start : "";
		const char *end = n > 0 ? memchr(first, '\n', n) : NULL;

		if (end || n == LOG_LINE_MAX) {
			*ret = first;
			*ret_n = end ? (size_t)(end + 1 - first) : n;
			lines->start += *ret_n;
			lines->at += *ret_n;
			return 1;
		}
		got = read_more(lines);
	}
	if (got < 0)
		return (int)got;
	*ret = lines->bytes + lines->start;
	*ret_n = lines->end - lines->start;
	return 0;
}
