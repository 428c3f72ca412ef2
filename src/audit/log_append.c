/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/log_append.h"

#include "audit/chain.h"
#include "audit/log_lines.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/time_text.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SEQ_BEGIN     "{\"seq\":"
#define SEGMENT_BEGIN "{\"kind\":\"segment\",\"number\":"
#define SEGMENT_PREV  ",\"prev\":\""

/* Room for marks and the seal beside the records and their numbers. */
#define BLOCK_ROOM (4 * LOG_BLOCK_MAX)

struct append {
	int state; /* borrowed */
	int lock, fd;
	struct log_head head;
	struct chain chain;
	uint64_t end;	  /* of the file: behind it the block comes */
	bool has_no_head; /* and there are segments */
	bool is_cut;
	bool needs_newline;
};

static void append_done(struct append *a)
{
	fd_closep(&a->fd);
	fd_closep(&a->lock);
}
#define auto_append __attribute__((cleanup(append_done)))

uint64_t log_seq_of(const char *line, size_t n)
{
	size_t at = sizeof(SEQ_BEGIN) - 1;
	uint64_t seq = 0;

	if (n <= at || memcmp(line, SEQ_BEGIN, at) != 0)
		return 0;
	for (; at < n && line[at] >= '0' && line[at] <= '9' &&
	       seq < UINT64_MAX / 16;
	     at++)
		seq = seq * 10 + (uint64_t)(line[at] - '0');
	return at < n && line[at] == ',' ? seq : 0;
}

int log_segment_prev(const char *line, size_t n, uint8_t ret[SHA256_SIZE])
{
	size_t at = sizeof(SEGMENT_BEGIN) - 1;
	char hex[SHA256_HEX_SIZE];

	if (n <= at || memcmp(line, SEGMENT_BEGIN, at) != 0)
		return -EINVAL;
	while (at < n && line[at] >= '0' && line[at] <= '9')
		at++;
	if (n - at < sizeof(SEGMENT_PREV) + sizeof(hex) ||
	    memcmp(line + at, SEGMENT_PREV, sizeof(SEGMENT_PREV) - 1) != 0)
		return -EINVAL;
	memcpy(hex, line + at + sizeof(SEGMENT_PREV) - 1, sizeof(hex) - 1);
	hex[sizeof(hex) - 1] = '\0';
	return sha256_from_hex(hex, ret);
}

/* The number in a name such as "00000001.jsonl"; 0: it is another name. */
static unsigned segment_of(const char *name)
{
	char again[LOG_SEGMENT_SIZE];
	unsigned number = 0;

	for (size_t i = 0; i < 8 && name[i] >= '0' && name[i] <= '9'; i++)
		number = number * 10 + (unsigned)(name[i] - '0');
	(void)log_segment_name(number, again);
	return strcmp(again + sizeof(LOG_DIR), name) == 0 ? number : 0;
}

int log_find_segments(int state, unsigned *ret_first, unsigned *ret_last)
{
	char block[4096] __attribute__((aligned(8)));
	auto_fd int dir = sys_openat(state, LOG_DIR,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	unsigned first = 0, last = 0;
	ssize_t n = dir;

	while (n >= 0 && (n = sys_getdents(dir, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);
			unsigned number = segment_of(e->name);

			at += e->reclen;
			if (number == 0)
				continue;
			first = first == 0 || number < first ? number : first;
			last = number > last ? number : last;
		}
	}
	if (n < 0)
		return (int)n;
	if (first == 0)
		return -ENOENT;
	*ret_first = first;
	*ret_last = last;
	return 0;
}

static int open_segment(struct append *a)
{
	char name[LOG_SEGMENT_SIZE];
	struct stat st;
	int r;

	fd_closep(&a->fd);
	a->fd = sys_openat(a->state, log_segment_name(a->head.segment, name),
			   O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW |
				   O_NONBLOCK | O_NOCTTY,
			   0600);
	r = a->fd < 0 ? a->fd : sys_fstat(a->fd, &st);
	if (r < 0)
		return r;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	a->end = (uint64_t)st.st_size;
	return 0;
}

/*
 * Takes up the blocks behind the head, of a process that was killed before it
 * wrote that.  Bytes behind the last of them belong to the next block.
 */
static int catch_up(struct append *a)
{
	struct chain chain = a->chain;
	struct log_lines lines;
	uint64_t seq = a->head.seq, found;
	const char *line;
	size_t n = 0;
	int r;

	log_lines_init(&lines, a->fd, a->head.size);
	while ((r = log_lines_next(&lines, &line, &n)) == 1) {
		int fits;

		a->needs_newline = line[n - 1] != '\n';
		if (a->head.size == 0 && lines.at == n && a->has_no_head &&
		    log_segment_prev(line, n, chain.head) >= 0)
			chain_begin(&chain, chain.head);
		fits = chain_take(&chain, line, n);
		found = log_seq_of(line, n);
		if (found >= seq)
			seq = found + 1;
		/* Without a head there is no end to go by but this. */
		if (fits != 1 && !(fits < 0 && a->has_no_head))
			continue;
		a->chain = chain;
		a->head.size = lines.at;
		a->head.seq = seq;
	}
	found = r >= 0 ? log_seq_of(line, n) : 0;
	if (r >= 0 && n > 0)
		a->needs_newline = true;
	log_lines_done(&lines);
	/* Also of torn lines: no two have the same. */
	a->head.seq = found >= seq ? found + 1 : seq;
	/* Not a seal that does not fit: all behind the last good one is torn.
	 */
	if (r >= 0 && a->head.size < a->end) {
		chain_begin(&a->chain, a->chain.head);
		log_lines_init(&lines, a->fd, a->head.size);
		do {
			r = log_lines_next(&lines, &line, &n);
			if (r >= 0)
				chain_add(&a->chain, line, n);
		} while (r == 1);
		log_lines_done(&lines);
	}
	return r < 0 ? r : 0;
}

static int read_head(struct append *a)
{
	int r = log_head_read(a->lock, &a->head);

	if (r == -ENOENT) {
		log_head_init(&a->head);
		r = log_find_segments(a->state, &a->head.first,
				      &a->head.segment);
		a->has_no_head = r >= 0;
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

static int begin(struct append *a)
{
	int r;

	a->lock = sys_lock_file(a->state, LOG_HEAD, O_CREAT, LOG_WAIT);
	if (a->lock == -ENOENT) {
		r = sys_mkdirat(a->state, LOG_DIR, 0700);
		if (r < 0 && r != -EEXIST)
			return r;
		a->lock = sys_lock_file(a->state, LOG_HEAD, O_CREAT, LOG_WAIT);
	}
	r = a->lock < 0 ? a->lock : read_head(a);
	if (r >= 0)
		r = open_segment(a);
	if (r < 0)
		return r;
	chain_begin(&a->chain, a->head.hash);
	a->is_cut = a->end < a->head.size;
	if (a->is_cut)
		a->head.size = a->end;
	return a->end > a->head.size ? catch_up(a) : 0;
}

/* The next segment, if the block does not fit any more. */
static int turn_over(struct append *a, size_t n)
{
	int r;

	if (a->end == 0 || a->end + n <= LOG_SEGMENT_MAX)
		return 0;
	/* Torn bytes stay behind, and no seal covers them. */
	chain_begin(&a->chain, a->chain.head);
	a->needs_newline = false;
	a->head.segment++;
	a->head.size = 0;
	r = open_segment(a);
	/* Of a process that was killed before it wrote the head. */
	return r < 0 || a->end == 0 ? r : catch_up(a);
}

static int add_mark(struct append *a, const char *kind, const char *text,
		    struct buf *out)
{
	char when[TIME_TEXT_SIZE];

	return buf_add_fmt(out,
			   SEQ_BEGIN "%" PRIu64 ",\"time\":\"%s\",\"kind\":"
				     "\"%s\",\"text\":\"%s\"}\n",
			   a->head.seq++, time_text(sys_now(), when), kind,
			   text);
}

/* The marks in front of the records: what is missing here. */
static void add_marks(struct append *a, bool is_torn, struct buf *out)
{
	char text[80];

	if (a->needs_newline)
		(void)buf_add_char(out, '\n');
	if (a->end == 0) {
		char hex[SHA256_HEX_SIZE];

		sha256_hex(a->chain.head, hex);
		(void)buf_add_fmt(out,
				  SEGMENT_BEGIN "%u" SEGMENT_PREV "%s\"}\n",
				  a->head.segment, hex);
	}
	if (is_torn) {
		(void)snprintf(text, sizeof(text),
			       "a write before this was cut short");
		(void)add_mark(a, "torn", text, out);
	}
	if (a->has_no_head)
		(void)add_mark(a, "gap", "the head of the log was missing",
			       out);
	if (a->is_cut)
		(void)add_mark(a, "gap", "the end of the log was missing", out);
	if (a->head.lost > 0) {
		(void)snprintf(text, sizeof(text),
			       "%" PRIu64 " record%s could not be written",
			       a->head.lost, a->head.lost == 1 ? "" : "s");
		(void)add_mark(a, "lost", text, out);
	}
}

static int compose(struct append *a, const char *bodies, size_t n, bool is_torn,
		   struct buf *out, struct buf *written)
{
	const char *end;
	size_t first;
	int r;

	add_marks(a, is_torn, out);
	first = out->len;
	for (const char *p = bodies; p < bodies + n; p = end) {
		end = memchr(p, '\n', (size_t)(bodies + n - p));
		end = end ? end + 1 : bodies + n;
		(void)buf_add_fmt(out, SEQ_BEGIN "%" PRIu64 ",", a->head.seq++);
		(void)buf_add(out, p, (size_t)(end - p));
	}
	if (out->error)
		return out->error;
	if (written)
		(void)buf_add(written, out->data + first, out->len - first);
	chain_add(&a->chain, out->data, out->len);
	r = chain_seal(&a->chain, out);
	return r;
}

static int write_head(const struct append *a)
{
	char text[LOG_HEAD_SIZE + 1];

	log_head_text(&a->head, text);
	return sys_pwrite_all(a->lock, text, LOG_HEAD_SIZE, 0);
}

static size_t count_lines(const char *bodies, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += bodies[i] == '\n';
	return count;
}

/* Older segments than are kept: their number is in the head before they go. */
static void drop_old(const struct append *a, unsigned first)
{
	char name[LOG_SEGMENT_SIZE];

	/* One more: it may be left from a process that was killed here. */
	for (unsigned i = first > 1 ? first - 1 : first; i < a->head.first; i++)
		(void)sys_unlinkat(a->state, log_segment_name(i, name), 0);
}

static int write_block(struct append *a, const struct buf *block,
		       bool is_durable)
{
	unsigned first = a->head.first;
	int r = sys_may_grow_to(a->end + block->len)
			? sys_write_all(a->fd, block->data, block->len)
			: -EFBIG;

	if (r < 0) {
		/* Half a block is worth nothing; left, it is told. */
		(void)sys_truncate(a->fd, a->end);
		return r;
	}
	a->head.size = a->end + block->len;
	memcpy(a->head.hash, a->chain.head, SHA256_SIZE);
	a->head.lost = 0;
	if (a->head.segment - a->head.first >= LOG_SEGMENTS)
		a->head.first = a->head.segment - LOG_SEGMENTS + 1;
	r = write_head(a);
	if (r >= 0 && is_durable)
		r = sys_fsync(a->fd);
	if (r >= 0 && a->head.first != first)
		drop_old(a, first);
	/* It is written: the next one finds it also without a head. */
	return 0;
}

/* As the log was, with these counted; where that cannot be, nothing is. */
static void count_lost(struct append *a, const struct log_head *before,
		       size_t n)
{
	a->head = *before;
	a->head.lost += n;
	(void)write_head(a);
}

int log_append(int state, const char *bodies, size_t n, bool is_durable,
	       struct buf *written)
{
	auto_append struct append a = { .state = state, .lock = -1, .fd = -1 };
	auto_buf struct buf block = BUF_INIT(BLOCK_ROOM);
	struct log_head before;
	bool is_torn;
	int r;

	r = begin(&a);
	if (r < 0)
		return r;
	before = a.head;
	memcpy(before.hash, a.chain.head, SHA256_SIZE);
	is_torn = a.end > a.head.size;
	r = turn_over(&a, n);
	is_torn |= a.end > a.head.size;
	if (r >= 0)
		r = compose(&a, bodies, n, is_torn, &block, written);
	if (r >= 0)
		r = write_block(&a, &block, is_durable);
	if (r < 0) {
		if (written)
			buf_cut(written, 0);
		count_lost(&a, &before, count_lines(bodies, n));
	}
	return r;
}
