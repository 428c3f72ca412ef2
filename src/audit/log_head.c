/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/log_head.h"

#include "sys/attr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "holdback-log 1 "

/* By their width, so that the line is always as long. */
#define DIGITS_SEGMENT 8
#define DIGITS_COUNT   12

void log_head_init(struct log_head *head)
{
	*head = (struct log_head){ .first = 1, .segment = 1, .seq = 1 };
}

void log_head_text(const struct log_head *head, char *ret)
{
	char hex[SHA256_HEX_SIZE];

	sha256_hex(head->hash, hex);
	(void)snprintf(ret, LOG_HEAD_SIZE + 1,
		       MAGIC "%08u %08u %012" PRIu64 " %012" PRIu64
			     " %012" PRIu64 " %s\n",
		       head->first % 100000000, head->segment % 100000000,
		       head->size % 1000000000000, head->seq % 1000000000000,
		       head->lost % 1000000000000, hex);
}

/* So many digits and a blank. */
static int take_number(const char **p, int digits, uint64_t *ret)
{
	uint64_t value = 0;

	for (int i = 0; i < digits; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return -EINVAL;
		value = value * 10 + (uint64_t)(**p - '0');
	}
	if (*(*p)++ != ' ')
		return -EINVAL;
	*ret = value;
	return 0;
}

int log_head_parse(const char *text, size_t n, struct log_head *ret)
{
	char line[LOG_HEAD_SIZE + 1];
	const char *p = line + sizeof(MAGIC) - 1;
	struct log_head head = { 0 };
	uint64_t first, segment;

	if (n != LOG_HEAD_SIZE || text[n - 1] != '\n' ||
	    memcmp(text, MAGIC, sizeof(MAGIC) - 1) != 0)
		return -EINVAL;
	memcpy(line, text, n - 1);
	line[n - 1] = '\0';
	if (take_number(&p, DIGITS_SEGMENT, &first) < 0 ||
	    take_number(&p, DIGITS_SEGMENT, &segment) < 0 ||
	    take_number(&p, DIGITS_COUNT, &head.size) < 0 ||
	    take_number(&p, DIGITS_COUNT, &head.seq) < 0 ||
	    take_number(&p, DIGITS_COUNT, &head.lost) < 0 ||
	    sha256_from_hex(p, head.hash) < 0 || first == 0 || segment < first)
		return -EINVAL;
	head.first = (unsigned)first;
	head.segment = (unsigned)segment;
	*ret = head;
	return 0;
}

int log_head_read(int fd, struct log_head *ret)
{
	char text[LOG_HEAD_SIZE + 1];
	ssize_t n = sys_pread_full(fd, text, sizeof(text), 0);

	if (n < 0)
		return (int)n;
	return log_head_parse(text, (size_t)n, ret) < 0 ? -ENOENT : 0;
}

const char *log_segment_name(unsigned number, char ret[LOG_SEGMENT_SIZE])
{
	(void)snprintf(ret, LOG_SEGMENT_SIZE, LOG_DIR "/%08u.jsonl",
		       number % 100000000);
	return ret;
}
